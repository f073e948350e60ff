/** The catalog: a root, a Collection with an asset of its own, and an Item for each scheme. */
import { type Addresses, REGION } from './addresses.ts'
import type { Holding } from './holdings.ts'

/** The extension in the version that all documents declare. */
export const AUTHENTICATION = 'https://stac-extensions.github.io/authentication/v1.1.0/schema.json'
const STORAGE = 'https://stac-extensions.github.io/storage/v2.0.0/schema.json'

/** The documents by path; links between them are relative. Link and asset of the first two lead to files of the Items. */
export function documentsFor(holdings: readonly Holding[], { s3 }: Addresses): Readonly<Record<string, object>> {
  const [about, guide = about] = holdings
  if (!about || !guide) return {}
  return {
    '/catalog.json': catalogWith(about),
    '/collection.json': collectionWith(guide, holdings),
    ...Object.fromEntries(holdings.map((holding) => [`/items/${holding.name}.json`, itemFor(holding, s3)])),
  }
}

function catalogWith({ name, scheme, href }: Holding): object {
  return {
    type: 'Catalog',
    stac_version: '1.0.0',
    stac_extensions: [AUTHENTICATION],
    id: 'demo',
    description: 'A catalog whose files are all protected.',
    'auth:schemes': { [name]: scheme },
    links: [
      { rel: 'root', href: './catalog.json', type: 'application/json' },
      { rel: 'child', href: './collection.json', type: 'application/json' },
      { rel: 'describedby', href, 'auth:refs': [name] },
    ],
  }
}

function collectionWith({ name, scheme, href }: Holding, holdings: readonly Holding[]): object {
  return {
    type: 'Collection',
    stac_version: '1.0.0',
    stac_extensions: [AUTHENTICATION],
    id: 'files',
    description: 'One item for each way to protect a file.',
    license: 'CC0-1.0',
    extent: { spatial: { bbox: [[-180, -90, 180, 90]] }, temporal: { interval: [['2026-01-01T00:00:00Z', null]] } },
    'auth:schemes': { [name]: scheme },
    assets: { guide: asset(href, name) },
    links: [
      { rel: 'root', href: './catalog.json', type: 'application/json' },
      { rel: 'parent', href: './catalog.json', type: 'application/json' },
      ...holdings.map((holding) => ({ rel: 'item', href: `./items/${holding.name}.json`, type: 'application/geo+json' })),
    ],
  }
}

function itemFor({ name, scheme, href }: Holding, s3: string): object {
  const stored = scheme.type === 's3'
  const storage = { 'storage:schemes': { store: { type: 'custom-s3', platform: s3, region: REGION } } }
  return {
    type: 'Feature',
    stac_version: '1.0.0',
    stac_extensions: stored ? [AUTHENTICATION, STORAGE] : [AUTHENTICATION],
    id: name,
    collection: 'files',
    geometry: null,
    properties: { datetime: '2026-01-01T00:00:00Z', 'auth:schemes': { [name]: scheme }, ...(stored && storage) },
    assets: { data: { ...asset(href, name), ...(stored && { 'storage:refs': ['store'] }) } },
    links: [
      { rel: 'root', href: '../catalog.json', type: 'application/json' },
      { rel: 'parent', href: '../collection.json', type: 'application/json' },
      { rel: 'collection', href: '../collection.json', type: 'application/json' },
    ],
  }
}

const asset = (href: string, name: string) => ({ href, type: 'application/octet-stream', roles: ['data'], 'auth:refs': [name] })
