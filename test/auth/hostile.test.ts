import { describe, expect, it } from 'vitest'
import type { AuthError } from '../../src/errors.ts'
import { alternateOf, assetOf, linkOf, type Target } from '../../src/stac/target.ts'
import { leaks, shown } from '../harness/canary.ts'
import { asset, catalog, found, item, scheme, target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { unchecked } from '../harness/unchecked.ts'
import { AUTHORIZE_URL, DATA, DISCOVERY_URL, SIGN_URL, secrets, TOKEN_URL, victim } from '../harness/victim.ts'

const F = `${DATA}f.tif`
const K = '/properties/auth:schemes/k'
const CODE = `${K}/flows/authorizationCode`
const HREF = '/assets/data/href'

type Row = readonly [name: string, target: Target, code: string, pointer: string]

const { client, key, oauth2, oidc, signed } = scheme
const code = (authorizationUrl: string, tokenUrl: string, more = {}) =>
  oauth2({ authorizationCode: { authorizationUrl, tokenUrl, ...more } })
const only = (schemes: object, href: string, refs: unknown) => found(assetOf(item(schemes, { data: asset(href, refs) }), 'data'))
const link = (members: object, k: object = key()) =>
  found(linkOf(catalog({ k }, { links: [{ rel: 'next', 'auth:refs': ['k'], ...members }] }), 'next'))
const alternate = (href: string) => {
  const data = asset(F, ['k'], { alternate: { s3: { href, 'auth:refs': ['k'] } } })
  return found(alternateOf(item({ k: key() }, { data }), 'data', 's3'))
}

const selection: readonly Row[] = [
  [
    "A01 an entry's id as scheme name, all else foreign",
    only({ oauth: client('https://auth.evil.example/token') }, 'https://data.evil.example/f.tif', ['oauth']),
    'NO_CREDENTIAL',
    '/assets/data/auth:refs/0',
  ],
  [
    'A02 a counterfeit host for a genuine scheme',
    target(client(TOKEN_URL), 'https://data.evil.example/f.tif'),
    'CREDENTIAL_TARGET_UNTRUSTED',
    HREF,
  ],
  [
    'A03 a foreign token endpoint',
    target(client('https://auth.evil.example/token'), F),
    'CREDENTIAL_ENDPOINT_UNTRUSTED',
    `${K}/flows/clientCredentials/tokenUrl`,
  ],
  [
    'A04 a foreign token endpoint beside an honest login page',
    target(code(AUTHORIZE_URL, 'https://auth.evil.example/token'), F),
    'CREDENTIAL_ENDPOINT_UNTRUSTED',
    `${CODE}/tokenUrl`,
  ],
  [
    'A05 a foreign refresh endpoint',
    target(code(AUTHORIZE_URL, TOKEN_URL, { refreshUrl: 'https://auth.evil.example/r' }), F),
    'CREDENTIAL_ENDPOINT_UNTRUSTED',
    `${CODE}/refreshUrl`,
  ],
  [
    'A06 a foreign discovery address',
    target(oidc('https://auth.evil.example/.well-known/openid-configuration'), F),
    'CREDENTIAL_ENDPOINT_UNTRUSTED',
    `${K}/openIdConnectUrl`,
  ],
  [
    'A07 a foreign signing API',
    target(signed('https://sign.evil.example/'), `${F}?X-Amz-Signature=x`),
    'CREDENTIAL_ENDPOINT_UNTRUSTED',
    `${CODE}/authorizationApi`,
  ],
  ['A08 a key asked for elsewhere', target(key(), 'https://evil.example/f.tif'), 'CREDENTIAL_TARGET_UNTRUSTED', HREF],
  ['A09 a header key asked for in the query', target(key('x-api-key', 'query'), F), 'SCHEME_MISMATCH', `${K}/in`],
  ['A10 a Digest account asked for as Basic', target(scheme.basic, F), 'SCHEME_MISMATCH', `${K}/scheme`],
  ['A11 the genuine host without encryption', target(key(), 'http://data.victim.example/f.tif'), 'URL_INSECURE', HREF],
  ['A13 an alternate elsewhere', alternate('https://evil.example/f.tif'), 'CREDENTIAL_TARGET_UNTRUSTED', '/assets/data/alternate/s3/href'],
  [
    'A14 a link with a method of its own',
    link({ href: F, method: 'POST', headers: {}, body: {} }),
    'LINK_REQUEST_FORBIDDEN',
    '/links/0/method',
  ],
  ['A14 a link with headers', link({ href: F, headers: { Authorization: 'x' } }), 'LINK_REQUEST_FORBIDDEN', '/links/0/headers'],
  ['A14 a link with a body', link({ href: F, body: { all: true } }), 'LINK_REQUEST_FORBIDDEN', '/links/0/body'],
  [
    'A17 another path of the genuine signing host',
    target(signed('https://sign.victim.example/v2/admin'), F),
    'CREDENTIAL_ENDPOINT_UNTRUSTED',
    `${CODE}/authorizationApi`,
  ],
  ['A19 a local file', target(key(), 'file:///etc/passwd'), 'URL_SCHEME_FORBIDDEN', HREF],
]

const lookAlikes: readonly Row[] = [
  ['https://victim.example.evil.example/', 'CREDENTIAL_TARGET_UNTRUSTED'],
  ['https://data.victim.example@evil.example/', 'URL_HAS_USERINFO'],
  ['https://u:p@data.victim.example/', 'URL_HAS_USERINFO'],
  ['https://evilvictim.example/', 'CREDENTIAL_TARGET_UNTRUSTED'],
  ['https://data.v\u0456ctim.example/', 'CREDENTIAL_TARGET_UNTRUSTED'],
  ['https://data.victim.example./', 'URL_INVALID'],
  ['https://data.victim.example\u3002/', 'URL_INVALID'],
  ['https://data.victim.example:8443/', 'CREDENTIAL_TARGET_UNTRUSTED'],
  ['https://data.victim.example\\@evil.example/', 'URL_INVALID'],
  ['https://exa\tmple.com/\n', 'URL_INVALID'],
  ['//data.victim.example/x', 'URL_INVALID'],
  ['https:data.victim.example', 'URL_INVALID'],
  [`${DATA}${'a'.repeat(8200)}`, 'URL_INVALID'],
  ['\\\\data.victim.example\\share', 'URL_INVALID'],
  ['', 'URL_INVALID'],
  ['f.tif', 'URL_INVALID'],
].map(([href = '', expected = '']) => [`A12, B07 ${JSON.stringify(href).slice(0, 60)}`, target(key(), href), expected, HREF])

const addresses: readonly Row[] = [
  [
    'B01 a discovery address without encryption',
    target(oidc('http://169.254.169.254/.well-known/openid-configuration'), F),
    'URL_INSECURE',
    `${K}/openIdConnectUrl`,
  ],
  ['B02 a file as discovery address', target(oidc('file:///etc/passwd'), F), 'URL_SCHEME_FORBIDDEN', `${K}/openIdConnectUrl`],
  ['B03 loopback', target(client('https://127.0.0.1:2375/'), 'https://[::1]:9200/'), 'URL_ADDRESS_FORBIDDEN', HREF],
  ['B03 localhost', target(signed('https://10.0.0.1/'), 'https://localhost:10250/'), 'URL_ADDRESS_FORBIDDEN', HREF],
  [
    'B03 a private token endpoint',
    target(client('https://127.0.0.1:2375/'), F),
    'URL_ADDRESS_FORBIDDEN',
    `${K}/flows/clientCredentials/tokenUrl`,
  ],
  ['B06 script as login page', target(code("javascript:alert('$(id)')", TOKEN_URL), F), 'URL_SCHEME_FORBIDDEN', `${CODE}/authorizationUrl`],
  ...[
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    '[::ffff:169.254.169.254]',
    '[64:ff9b::a9fe:a9fe]',
    '[::127.0.0.1]',
    '\uff11\uff12\uff17.\uff10.\uff10.\uff11',
    '127.0.0.1\u3002',
    'metadata.internal',
    'a.localhost',
  ].map((host): Row => [`B04 ${host}`, target(key(), `https://${host}/`), 'URL_ADDRESS_FORBIDDEN', HREF]),
]

const names: readonly Row[] = [
  ...[
    'x\r\nHost: evil',
    '__proto__',
    'Host',
    'Content-Length',
    'Transfer-Encoding',
    'Connection',
    'Expect',
    'Upgrade',
    'TE',
    'Trailer',
    'Proxy-Authorization',
    'Cookie',
    'Origin',
    'Referer',
    'Range',
    'Accept-Encoding',
    'X-HTTP-Method-Override',
    'X-Forwarded-For',
    'Sec-Fetch-Site',
    'If-Match',
    '',
  ].map((name): Row => [`C01, C02, C03 ${JSON.stringify(name)}`, target(key(name), F), 'HEADER_NAME_FORBIDDEN', `${K}/name`]),
  ['C04 a cookie name with attributes', target(key('a=1; Domain=evil.example; x', 'cookie'), F), 'COOKIE_NAME_INVALID', `${K}/name`],
]

describe('what a hostile document requests', () => {
  it.each([...selection, ...lookAlikes, ...addresses, ...names])('%s', async (_name, wanted, expected, pointer) => {
    const { auth, script } = victim()
    for (const error of await Promise.all([auth.authorize(wanted), auth.fetch(wanted)].map(failureOf))) {
      expect(error).toMatchObject({ code: expected, pointer })
      expect(leaks(Object.values(secrets), { error: shown(error) })).toEqual([])
    }
    expect(script.sent).toEqual([])
    expect((await auth.explain(wanted)).refs[0]).toMatchObject({ code: expected, pointer })
  })

  it('C06 the names of prototypes are defined nowhere', async () => {
    const schemes = JSON.parse(
      '{"__proto__":{"type":"apiKey","name":"a","in":"header"},"constructor":{"type":"apiKey","name":"b","in":"header"}}',
    )
    const refs = ['toString', 'hasOwnProperty', '__proto__', 'constructor']
    const { auth, script } = victim()
    const error = (await failureOf(auth.authorize(only(schemes, F, refs)))) as AuthError
    expect(error.code).toBe('SCHEME_MISMATCH')
    expect(error.reasons?.filter(({ code: reasonCode }) => reasonCode === 'SCHEME_NOT_FOUND').map(({ pointer }) => pointer)).toEqual([
      '/assets/data/auth:refs/0',
      '/assets/data/auth:refs/1',
    ])
    expect(script.sent).toEqual([])
  })

  it('A14b an alternate elsewhere inherits nothing and gets nothing', async () => {
    const data = asset(F, ['k'], { alternate: { other: { href: 'https://evil.example/f.tif' } } })
    const { auth, script } = victim()
    await auth.fetch(alternateOf(item({ k: key() }, { data }), 'data', 'other'))
    expect(script.sent).toMatchObject([{ url: 'https://evil.example/f.tif', headers: {} }])
  })

  it("A16 the catalog's scopes are reported, not requested", async () => {
    const warnings: unknown[] = []
    const { auth, script } = victim({ onWarning: (warning) => warnings.push(warning) })
    await auth.fetch(target(client(TOKEN_URL, { scopes: { 'admin:delete': 'needed', read: '' } }), F))
    expect(warnings).toMatchObject([{ code: 'SCOPE_NOT_GRANTED', pointer: `${K}/flows/clientCredentials/scopes/admin:delete` }])
    expect(new URLSearchParams(String(script.to('auth.victim.example')[0]?.body)).get('scope')).toBe('read')
  })
})

describe('their honest neighbours', () => {
  const wildcard = { id: 'wide', type: 'apiKey', in: 'header', name: 'x-wide', value: 'v', sendTo: 'https://*.tiles.victim.example/' }
  const local = { id: 'local', type: 'apiKey', in: 'header', name: 'x-local', value: 'v', sendTo: 'http://127.0.0.1:8080/' }
  const named = only(JSON.parse('{"__proto__":{"type":"apiKey","name":"X-API-Key","in":"header"}}'), F, ['__proto__'])
  const relative = found(assetOf(item({ k: key() }, { data: asset('../f.tif') }), 'data', { url: `${DATA}items/1.json` }))

  it.each<[string, Target, string]>([
    ["any name for a scheme that is the user's", only({ anything: client(TOKEN_URL) }, F, ['anything']), 'oauth'],
    ['a token endpoint with its default port and in capitals', target(client('HTTPS://AUTH.victim.example:443/token#x'), F), 'oauth'],
    ['a login flow that leaves a URL out', target(oauth2({ clientCredentials: {} }), F), 'oauth'],
    ['a signing API', target(signed(SIGN_URL), F), 'signer'],
    ['a signing API by POST', target(signed(SIGN_URL, { method: 'post' }), F), 'signer-post'],
    ['a key in a header, whatever its case', target(key('X-API-KEY'), F), 'key'],
    ['a key in a cookie', target(key('session', 'cookie'), F), 'cookie'],
    ['C05 a query name that needs encoding', target(key('key&admin=1#', 'query'), F), 'query-key'],
    ['the default port and capitals in the host', target(key(), 'https://DATA.victim.example:443/f.tif'), 'key'],
    ['an encoded slash under a whole origin', target(key(), `${DATA}a%2Fb`), 'key'],
    ['an alternate on the host that is granted', alternate(`${DATA}g.tif`), 'key'],
    ['a link by GET', link({ href: F, method: 'GET' }), 'key'],
    ['a scheme whose own name is __proto__', named, 'key'],
    ['a relative address', relative, 'key'],
    ['two labels below a wildcard', target(key('x-wide'), 'https://a.b.tiles.victim.example/1'), 'wide'],
    ['loopback that the user named', target(key('x-local'), 'http://127.0.0.1:8080/f'), 'local'],
  ])('%s', async (_name, wanted, credential) => {
    const { auth, script } = victim()
    const { auth: wider } = victim({ credentials: unchecked([wildcard, local]) }, script)
    const request = await (['wide', 'local'].includes(credential) ? wider : auth).authorize(wanted)
    expect(request.credential).toBe(credential)
    expect(request.secretIn.headers.length > 0 || request.secretIn.url).toBe(true)
  })

  it("a discovery or login URL of the user's fits, as far as the login", async () => {
    const { auth } = victim()
    expect((await auth.explain(target(oidc(DISCOVERY_URL), F))).refs[0]).toMatchObject({ code: 'LOGIN_REQUIRED' })
    expect((await auth.explain(target(code(AUTHORIZE_URL, TOKEN_URL), F))).refs[0]).toMatchObject({ code: 'LOGIN_REQUIRED' })
    expect((await auth.explain(target({ type: 'http', scheme: 'DIGEST' }, F))).refs[0]).not.toMatchObject({ code: 'SCHEME_MISMATCH' })
  })
})
