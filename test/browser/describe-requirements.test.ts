import { describe, expect, it } from 'vitest'
import { describeRequirements } from '../../src/browser/credential-form.ts'
import { targetsOf } from '../../src/stac/target.ts'
import { asset, found, item, type Json, target } from '../harness/documents.ts'

const DATA = 'https://data.example/a.tif'

/** The form for a scheme. */
async function formFor(scheme: Json, href = DATA) {
  const [model] = await describeRequirements(target(scheme, href))
  return found(model)
}

const flow = (name: string, members: Json) => ({ type: 'oauth2', flows: { [name]: { scopes: {}, ...members } } })
const login = { authorizationUrl: 'https://identity.example/auth', tokenUrl: 'https://identity.example/token' }
const sign = { type: 'signedUrl', flows: { authorizationCode: { authorizationApi: 'https://sign.example/v1', method: 'POST' } } }

describe('the form for a scheme', () => {
  it.each([
    [
      'basic',
      { type: 'http', scheme: 'basic' },
      'username:text:username password:password:current-password',
      { place: 'header', name: 'authorization' },
      [],
      undefined,
    ],
    ['bearer', { type: 'http', scheme: 'bearer' }, 'token:password:off', { place: 'header', name: 'authorization' }, [], undefined],
    [
      'a key in a header',
      { type: 'apiKey', in: 'header', name: 'x-key' },
      'value:password:off',
      { place: 'header', name: 'x-key' },
      [],
      undefined,
    ],
    [
      'a key in the query',
      { type: 'apiKey', in: 'query', name: 'key' },
      'value:password:off',
      { place: 'query', name: 'key' },
      [],
      undefined,
    ],
    [
      'a login',
      flow('authorizationCode', login),
      'clientId:text:off scopes:text:off',
      { place: 'header', name: 'authorization' },
      ['https://identity.example/token'],
      'https://identity.example/auth',
    ],
    [
      'a service',
      flow('clientCredentials', { tokenUrl: login.tokenUrl }),
      'clientId:text:off clientSecret:password:off scopes:text:off',
      { place: 'header', name: 'authorization' },
      ['https://identity.example/token'],
      undefined,
    ],
    [
      'OpenID Connect',
      { type: 'openIdConnect', openIdConnectUrl: 'https://identity.example/' },
      'clientId:text:off clientSecret:password:off scopes:text:off',
      { place: 'header', name: 'authorization' },
      ['https://identity.example/'],
      'https://identity.example/.well-known/openid-configuration',
    ],
    ['a signing service', sign, 'signedUrlHosts:text:off', { place: 'url' }, ['https://sign.example/v1'], undefined],
    ['S3', { type: 's3' }, 'accessKeyId:password:off secretAccessKey:password:off region:text:off', { place: 'signature' }, [], undefined],
  ] as const)('%s says what is asked for and where it goes', async (_name, scheme, fields, carriedIn, secretTo, loginAt) => {
    const model = await formFor(scheme, scheme.type === 's3' ? 's3://pictures/a.tif' : DATA)
    const asked = model.fields.filter(({ required, name }) => required || fields.includes(name))
    expect(asked.map(({ name, type, autocomplete }) => `${name}:${type}:${autocomplete}`).join(' ')).toBe(fields)
    expect(model).toMatchObject({ name: 'k', type: scheme.type, carriedIn, secretTo })
    expect(model.sendTo.map((place) => place.replace('s3://pictures/', 'https://data.example/'))).toEqual(['https://data.example/'])
    expect([model.loginAt, model.obstacle]).toEqual([loginAt, undefined])
    for (const { secret, type } of model.fields) expect(secret).toBe(type === 'password' || type === 'textarea')
  })

  it.each([
    ['cookies', { type: 'apiKey', in: 'cookie', name: 'session' }, /cookie/],
    ['Kerberos', { type: 'http', scheme: 'negotiate' }, /^this login is unsupported in web pages$/],
    ['keys of the connection', { type: 'http', scheme: 'concealed' }, /^this login is unsupported in web pages$/],
  ])('reports before anything is typed that pages have no %s', async (_name, scheme, message) => {
    expect((await formFor(scheme)).obstacle).toMatchObject({ code: 'UNSUPPORTED_IN_BROWSER', message: expect.stringMatching(message) })
  })

  it('has no field for sendTo, which the user confirms instead', async () => {
    const { fields, sendTo } = await formFor(sign)
    expect(fields.map(({ name }) => name)).toContain('signedUrlHosts')
    expect(fields.map(({ name }) => name)).not.toContain('sendTo')
    expect(sendTo).toEqual(['https://data.example/'])
  })

  it('reports what servers must do for pages', async () => {
    expect((await formFor({ type: 'http', scheme: 'digest' })).condition).toContain('Access-Control-Expose-Headers')
    expect((await formFor({ type: 'http', scheme: 'basic' })).condition).toBeUndefined()
  })

  it.each([
    ['a scheme without its parts', { type: 'apiKey', in: 'body', name: 'x' }, DATA, 'SCHEME_INVALID'],
    ['a header that no key may have', { type: 'apiKey', in: 'header', name: 'Host' }, DATA, 'HEADER_NAME_FORBIDDEN'],
    ['a token endpoint without encryption', flow('clientCredentials', { tokenUrl: 'http://identity.example/token' }), DATA, 'URL_INSECURE'],
    ['a discovery address that is none', { type: 'openIdConnect', openIdConnectUrl: 'not an address' }, DATA, 'URL_INVALID'],
    ['a file without encryption', { type: 'http', scheme: 'basic' }, 'http://data.example/a.tif', 'URL_INSECURE'],
    ['a file on this machine', { type: 'http', scheme: 'basic' }, 'https://127.0.0.1/a.tif', 'URL_ADDRESS_FORBIDDEN'],
    ['a file on a host that reads as a pattern', { type: 'http', scheme: 'basic' }, 'https://*.data.example/a.tif', 'URL_INVALID'],
    ['a file with a password in its address', { type: 'http', scheme: 'basic' }, 'https://a:b@data.example/', 'URL_HAS_USERINFO'],
  ])('refuses %s', async (_name, scheme, href, code) => {
    const model = await formFor(scheme, href)
    expect(model.obstacle?.code).toBe(code)
    expect(model.sendTo).toEqual([])
    expect(JSON.stringify(model)).not.toContain('a:b@')
  })

  it('shows hosts as they are compared, and texts of the catalog without disguise', async () => {
    const model = await formFor(
      { ...flow('clientCredentials', { tokenUrl: 'https://idеntity.example/token' }), description: 'trust\u202eme\u0007' },
      'https://dаta.example/',
    )
    expect(model.sendTo).toEqual(['https://xn--dta-6cd.example/'])
    expect(model.secretTo).toEqual(['https://xn--idntity-8gg.example/token'])
    expect(model.description).toBe('trust\\u{202e}me\\u{7}')
  })

  it('takes of a host with many owners the folder only', async () => {
    const model = await formFor({ type: 'http', scheme: 'basic' }, 'https://storage.googleapis.com/mine/a.tif')
    expect(model.sendTo).toEqual(['https://storage.googleapis.com/mine/'])
  })
})

it('returns one form per scheme of a document, with all its targets', async () => {
  const schemes = { one: { type: 'http', scheme: 'basic' }, two: { type: 'apiKey', in: 'query', name: 'k' }, unknown: { type: 'magic' } }
  const assets = {
    a: asset('https://data.example/a', ['one', 'two']),
    b: asset('https://tiles.example/b', ['one']),
    c: asset('https://data.example/c', ['one', 'unknown', 'missing']),
    d: { href: 'https://open.example/d' },
  }
  const models = await describeRequirements(targetsOf(item(schemes, assets)))
  expect(models.map(({ name, sendTo }) => [name, sendTo])).toEqual([
    ['one', ['https://data.example/', 'https://tiles.example/']],
    ['two', ['https://data.example/']],
  ])
})

it('returns a form for each of two documents whose schemes differ under the same pointer', async () => {
  const key = (name: string) => ({ k: { type: 'apiKey', in: 'header', name } })
  const documents = [item(key('x-first'), { x: asset(DATA) }), item(key('x-second'), { x: asset('https://other.example/b.tif') })]
  const models = await describeRequirements(documents.flatMap((document) => [...targetsOf(document)]))
  expect(models.map(({ carriedIn, sendTo }) => [carriedIn.name, sendTo])).toEqual([
    ['x-first', ['https://data.example/']],
    ['x-second', ['https://other.example/']],
  ])
})
