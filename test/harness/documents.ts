/** Small documents in the shapes of the STAC specification, for tests of what catalogs may say. */
import type { Target } from '../../src/stac/target.ts'
import { assetOf } from '../../src/stac/target.ts'

export type Json = { readonly [member: string]: unknown }

/** The URL of the extension, in a version that is not the newest: documents in use have it. */
export const EXTENSION = 'https://stac-extensions.github.io/authentication/v1.1.0/schema.json'

const DECLARED = ['https://stac-extensions.github.io/authentication/v1.2.0/schema.json']

/** An Item with these schemes and assets; further members replace those of the Item. */
export function item(schemes: unknown, assets: Json = {}, members: Json = {}): Json {
  const properties = { datetime: '2026-01-01T00:00:00Z', ...(schemes !== undefined && { 'auth:schemes': schemes }) }
  return {
    type: 'Feature',
    stac_version: '1.1.0',
    stac_extensions: DECLARED,
    id: 'x',
    geometry: null,
    properties,
    links: [],
    assets,
    ...members,
  }
}

/** A Collection with these schemes. */
export function collection(schemes: unknown, members: Json = {}): Json {
  return { ...catalog(schemes), type: 'Collection', license: 'other', extent: {}, ...members }
}

/** A Catalog with these schemes. */
export function catalog(schemes: unknown, members: Json = {}): Json {
  return {
    type: 'Catalog',
    stac_version: '1.1.0',
    stac_extensions: DECLARED,
    id: 'x',
    description: 'd',
    'auth:schemes': schemes,
    links: [],
    ...members,
  }
}

/** An asset at that address which asks for these schemes. */
export function asset(href: unknown, refs: unknown = ['k'], members: Json = {}): Json {
  return { href, 'auth:refs': refs, ...members }
}

/** The target `data` of an Item whose only scheme is `k`. */
export function target(definition: unknown, href: string, members: Json = {}): Target {
  return found(assetOf(item({ k: definition }, { data: asset(href, ['k'], members) }), 'data'))
}

/** The value, or a failed test. */
export function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the test asked for something that is not there')
  return value
}

export const scheme = {
  basic: { type: 'http', scheme: 'basic' },
  bearer: { type: 'http', scheme: 'bearer' },
  key: (name = 'x-api-key', place = 'header') => ({ type: 'apiKey', name, in: place }),
  oauth2: (flows: Json) => ({ type: 'oauth2', flows }),
  client: (tokenUrl: string, members: Json = {}) => ({
    type: 'oauth2',
    flows: { clientCredentials: { tokenUrl, scopes: {}, ...members } },
  }),
  oidc: (openIdConnectUrl: string) => ({ type: 'openIdConnect', openIdConnectUrl }),
  signed: (authorizationApi: string | undefined, members: Json = {}) => ({
    type: 'signedUrl',
    flows: { authorizationCode: signing(authorizationApi, members) },
  }),
} as const

/** A signing call that is told the address in the query. */
export function signing(authorizationApi: string | undefined, members: Json = {}): Json {
  const parameters = { href: { in: 'query', required: true, schema: { type: 'string' } } }
  return { method: 'GET', ...(authorizationApi !== undefined && { authorizationApi }), responseField: 'href', parameters, ...members }
}
