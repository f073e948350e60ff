/** The parts that documents of the page's catalog are made of. */
import { AUTHENTICATION } from '../documents.ts'
import { KEY_HEADER, PLACES, type Scene } from './holdings.ts'
import { SIZE } from './landscape.ts'

export interface SiteAddresses {
  readonly catalog: string
  readonly archive: string
  readonly issuer: string
  /** A host that nobody trusts. */
  readonly evil: string
}

export type Json = Readonly<Record<string, unknown>>

export const named = (scene: string) => `${scene[0]?.toUpperCase()}${scene.slice(1).replace('-', ' ')}`
export const link = (rel: string, href: string, title?: string) => ({
  rel,
  href,
  type: rel === 'item' ? 'application/geo+json' : 'application/json',
  ...(title && { title }),
})

export function item(id: string, of: string, place: Json, schemes: Json, assets: Json, about: string): Json {
  return {
    type: 'Feature',
    stac_version: '1.1.0',
    stac_extensions: [AUTHENTICATION],
    id,
    collection: of,
    ...place,
    properties: { title: named(id), description: about, datetime: '2026-06-14T10:22:31Z', 'auth:schemes': schemes },
    assets,
    links: [
      link('root', '../catalog.json', 'Meridian archive'),
      link('parent', './collection.json', named(of)),
      link('collection', './collection.json', named(of)),
    ],
  }
}

export function placeOf(scene: Scene): Json {
  const { west, north, pixel } = PLACES[scene]
  return within(west, north - SIZE * pixel, west + SIZE * pixel, north)
}

export function within(...bbox: readonly [west: number, south: number, east: number, north: number]): Json {
  const [west, south, east, north] = bbox.map((degrees) => Math.round(degrees * 1e6) / 1e6) as [number, number, number, number]
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
  return { bbox: [west, south, east, north], geometry: { type: 'Polygon', coordinates: [ring] } }
}

export const asset = (title: string, href: string, type: string, roles: readonly string[], refs?: readonly string[]) => ({
  title,
  href,
  type,
  roles,
  ...(refs && { 'auth:refs': refs }),
})
export const TIFF = 'image/tiff; application=geotiff'

export const portal = (issuer: string) => ({
  portal: {
    type: 'openIdConnect',
    description: 'The login of the archive',
    openIdConnectUrl: `${issuer}/.well-known/openid-configuration`,
  },
})
export const key = { archive: { type: 'apiKey', in: 'header', name: KEY_HEADER, description: 'The key of the archive' } }
