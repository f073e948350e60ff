import { EXTENSION } from '../harness/documents.ts'
/** Documents for the tests of the command line. */

export const KEY_SCHEME = { type: 'apiKey', name: 'x-api-key', in: 'header' }

/** An Item with these assets, and schemes (default: `key`, an API key in a header). */
export function itemWith(
  assets: object,
  { schemes = { key: KEY_SCHEME }, links = [] }: { schemes?: object; links?: object[] } = {},
): object {
  const properties = { datetime: '2026-01-01T00:00:00Z', 'auth:schemes': schemes }
  return { type: 'Feature', stac_version: '1.0.0', stac_extensions: [EXTENSION], id: 'x', geometry: null, properties, links, assets }
}

/** The credential file of a user whose key may go to these addresses. */
export function keyFor(...sendTo: string[]): object {
  const portal = { id: 'portal', type: 'apiKey', in: 'header', name: 'x-api-key', value: { env: 'STAC_AUTH_TEST_KEY' }, sendTo }
  return { version: 1, credentials: [portal] }
}

const PLANETARY_COMPUTER = 'https://planetarycomputer.microsoft.com/api/stac/v1/collections/landsat-c2-l2/items/LC08'

/** An Item without the authentication extension, from this URL (default: of a provider whose files are known by its catalog). */
export function itemAt(assets: Readonly<Record<string, unknown>>, self = PLANETARY_COMPUTER) {
  const links = [
    { rel: 'self', href: self },
    { rel: 'root', href: new URL('/', self).href },
  ]
  const properties = { datetime: '2026-01-01T00:00:00Z' }
  return { type: 'Feature', stac_version: '1.0.0', id: 'x', geometry: null, properties, links, assets }
}
