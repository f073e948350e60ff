import { expect, it } from 'vitest'
import { lint } from '../../src/lint/index.ts'
import { EXTENSION } from '../harness/documents.ts'

const PROVIDER = 'https://login.elsewhere.example/'

function item(home: string | undefined, href: string, scheme: object) {
  return {
    type: 'Feature',
    stac_version: '1.1.0',
    stac_extensions: [EXTENSION],
    id: 'x',
    geometry: null,
    properties: { datetime: '2026-01-01T00:00:00Z', 'auth:schemes': { login: scheme } },
    links: home === undefined ? [] : [{ rel: 'self', href: home }],
    assets: { data: { href, 'auth:refs': ['login'] } },
  }
}

const HOME = 'https://stac.agency.example/item.json'
const FILE = 'https://files.archive.test/a.tif'
const login = { type: 'openIdConnect', openIdConnectUrl: `${PROVIDER}.well-known/openid-configuration` }
const flows = { authorizationCode: { authorizationUrl: `${PROVIDER}auth`, tokenUrl: `${PROVIDER}token`, scopes: {} } }

it.each([
  ['an OpenID provider on a third site', item(HOME, FILE, login), true],
  ['an OAuth flow on a third site', item(HOME, FILE, { type: 'oauth2', flows }), true],
  ['a provider on the site of the catalog', item('https://stac.elsewhere.example/', FILE, login), false],
  ['a provider on the site of the files', item(HOME, 'https://files.elsewhere.example/a.tif', login), false],
  ['files on the site of the catalog', item(HOME, 'https://files.agency.example/a.tif', login), false],
  ['a catalog whose URL is unknown', item(undefined, FILE, login), false],
  ['a file with a relative URL', item(HOME, './a.tif', login), false],
  ['a key, which has no provider', item(HOME, FILE, { type: 'apiKey', in: 'header', name: 'x-api-key' }), false],
])('%s: the rule reports a provider of another site only where there is one', (_name, document, isReported) => {
  const codes = lint(document, { preset: 'strict' }).map(({ code }) => code)
  expect(codes.includes('foreign-provider')).toBe(isReported)
})
