import { describe, expect, it } from 'vitest'
import { base64, hmac } from '../../../src/crypto/encoding.ts'
import type { HttpRequest } from '../../../src/http/message.ts'
import { baseString } from '../../../src/strategies/http/oauth.ts'
import { oauth } from '../../../src/strategies/http/schemes.ts'
import { stepsOf, unauthorized, wordContext } from '../../harness/auth-flow.ts'
import { canary, leaks, shown } from '../../harness/canary.ts'
import { target } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { testKey } from '../../harness/keys.ts'
import { script } from '../../harness/scripted.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { DATA, victim } from '../../harness/victim.ts'
import { type OAuth1Options, oauth1Guard } from '../../servers/oauth1-guard.ts'

const get = (url: string): HttpRequest => ({ method: 'GET', url, headers: {} })
const form = (url: string, body: NonNullable<HttpRequest['body']>, type = 'application/x-www-form-urlencoded'): HttpRequest => {
  return { method: 'POST', url, headers: { 'content-type': type }, body }
}

describe('the base string', () => {
  it('the base string of RFC 5849 §1.2 has the signature of RFC 5849 §1.2', async () => {
    const text = baseString(get('http://photos.example.net/photos?file=vacation.jpg&size=original'), [
      ['oauth_consumer_key', 'dpf43f3p2l4k3l03'],
      ['oauth_token', 'nnch734d00sl2jdk'],
      ['oauth_signature_method', 'HMAC-SHA1'],
      ['oauth_timestamp', '137131202'],
      ['oauth_nonce', 'chapoH'],
    ])
    const key = new TextEncoder().encode('kd94hf93k423kf44&pfkkdhi9sl3r4s00')
    expect(base64(await hmac('SHA-1', key, text))).toBe('MdpQcU8iPSUjWoN/UDMsK2sui9I=')
  })

  it('the base string is that of RFC 5849 §3.4.1.1', () => {
    const text = baseString(form('http://example.com/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b', 'c2&a3=2+q'), [
      ['oauth_consumer_key', '9djdj82h48djs9d2'],
      ['oauth_token', 'kkk9d7dh3k39sjv7'],
      ['oauth_signature_method', 'HMAC-SHA1'],
      ['oauth_timestamp', '137131201'],
      ['oauth_nonce', '7d8f3e4a'],
    ])
    expect(text).toBe(
      'POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3D2%2520q%26a3%3Da%26b5%3D%253D%25253D%26c%2540%3D%26c2%3D%26' +
        'oauth_consumer_key%3D9djdj82h48djs9d2%26oauth_nonce%3D7d8f3e4a%26oauth_signature_method%3DHMAC-SHA1%26' +
        'oauth_timestamp%3D137131201%26oauth_token%3Dkkk9d7dh3k39sjv7',
    )
  })

  it.each<[string, HttpRequest, string]>([
    ['every byte outside letters, digits and -._~', get("https://a.example/?q=!'()*-._~%7E"), 'q%3D%2521%2527%2528%2529%252A-._~~'],
    ['text in UTF-8', get('https://a.example/?q=%c3%a9+%20'), 'q%3D%25C3%25A9%2520%2520'],
    ['bytes that are no UTF-8', get('https://a.example/?q=%ff'), 'q%3D%25FF'],
    ['a percent sign that encodes nothing', get('https://a.example/?q=%zz%'), 'q%3D%2525zz%2525'],
    ['names before values', get('https://a.example/?a1=x&a=z&a=b'), 'a%3Db%26a%3Dz%26a1%3Dx'],
    ['names without values, and nothing for nothing', get('https://a.example/?b&&a='), 'a%3D%26b%3D'],
    ['a value with equals signs', get('https://a.example/?a=b=c'), 'a%3Db%253Dc'],
    ['a form of bytes', form('https://a.example/', new TextEncoder().encode('f=é')), 'f%3D%25C3%25A9'],
    ['a form with a charset', form('https://a.example/', 'f=1', 'Application/x-www-form-urlencoded; charset=utf-8'), 'f%3D1'],
    ['no other body', form('https://a.example/', 'f=1', 'application/json'), ''],
    ['no body of a similar type', form('https://a.example/', 'f=1', 'application/x-www-form-urlencoded-not'), ''],
  ])('the base string has %s', (_name, request, parameters) => {
    expect(baseString(request, [])).toBe(`${request.method}&https%3A%2F%2Fa.example%2F&${parameters}`)
  })

  it('the base string has a port only where it is not the usual one', () => {
    expect(baseString(get(new URL('HTTPS://A.example:443/p').href), [])).toBe('GET&https%3A%2F%2Fa.example%2Fp&')
    expect(baseString(get('http://a.example:8080/p'), [])).toBe('GET&http%3A%2F%2Fa.example%3A8080%2Fp&')
  })
})

const ORIGIN = new URL(DATA).origin
const F = `${DATA}f.tif`
const rsa = testKey.rsa()
const consumer = { key: 'k y&', secret: 'se/cret=', publicKey: rsa.publicKey }
const token = { value: 'tok~"en', secret: 'tök' }
const entry = { id: 'mine', type: 'http', scheme: 'oauth', consumerKey: consumer.key, consumerSecret: consumer.secret, sendTo: DATA }
const full = { ...entry, token: token.value, tokenSecret: token.secret }

/** An engine whose only server asks for OAuth. */
function engine(fields: object = full, options: Partial<OAuth1Options> = {}) {
  const guard = oauth1Guard({ consumer, token, origin: ORIGIN, ...options })
  const wire = script(({ method, url, headers, body = '' }) => {
    const { pathname: path, search, searchParams: query } = new URL(url)
    return (
      guard({ method, target: path + search, path, query, headers, body: Buffer.from(body).toString(), connection: 1 }) ?? { body: 'data' }
    )
  })
  const { auth } = victim({ credentials: unchecked({ ...entry, ...fields }) }, wire)
  return { wire, auth, get: (url = F, init?: RequestInit) => auth.fetch(target({ type: 'http', scheme: 'OAuth' }, url), init) }
}

describe('a strict server', () => {
  it.each([undefined, 'HMAC-SHA1', 'HMAC-SHA256', 'PLAINTEXT'])('takes %s', async (signatureMethod) => {
    const { get: ask, wire } = engine({ ...full, signatureMethod })
    expect(await (await ask(`${F}?b=1&a=%20!`)).text()).toBe('data')
    expect(wire.sent.map(({ headers }) => /signature_method="([^"]+)"/.exec(headers.authorization ?? '')?.[1])).toEqual([
      signatureMethod ?? 'HMAC-SHA1',
    ])
  })

  it.each([rsa.pem, rsa.jwk])('takes RSA-SHA1', async (privateKey) => {
    const { get: ask } = engine({ ...full, signatureMethod: 'RSA-SHA1', privateKey })
    expect((await ask()).status).toBe(200)
  })

  it('accepts a consumer without a token', async () => {
    expect((await engine({}, { token: undefined }).get()).status).toBe(200)
  })

  it('takes forms, and refuses forms that were changed', async () => {
    const init = { method: 'POST', body: new URLSearchParams({ 'a b': 'é+&', f: '' }) }
    const { get: ask, wire } = engine()
    expect((await ask(F, init)).status).toBe(200)
    const { headers, method, url } = wire.sent[0] ?? get_
    const guard = oauth1Guard({ consumer, token, origin: ORIGIN })
    const { pathname: path, searchParams: query } = new URL(url)
    expect(guard({ method, target: path, path, query, headers, body: 'a+b=x&f=', connection: 1 })?.status).toBe(401)
  })

  it('takes every request of many, each once', async () => {
    const { get: ask, wire } = engine()
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask()))
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
    const replay = wire.sent[0]?.headers ?? {}
    const guard = oauth1Guard({ consumer, token, origin: ORIGIN })
    const inquiry = {
      method: 'GET',
      target: '/f.tif',
      path: '/f.tif',
      query: new URLSearchParams(),
      headers: replay,
      body: '',
      connection: 1,
    }
    expect([guard(inquiry)?.status, guard(inquiry)?.status]).toEqual([undefined, 401])
  })

  it.each<[string, object, Partial<OAuth1Options>, string]>([
    ['a wrong consumer secret', { consumerSecret: 'x' }, {}, 'signature_invalid'],
    ['a wrong token secret', { tokenSecret: 'x' }, {}, 'signature_invalid'],
    ['a wrong plain secret', { consumerSecret: 'x', signatureMethod: 'PLAINTEXT' }, {}, 'signature_invalid'],
    ['the key of somebody else', { signatureMethod: 'RSA-SHA1', privateKey: testKey.rsa().pem }, {}, 'signature_invalid'],
    ['an unknown consumer', { consumerKey: 'x' }, {}, 'consumer_key_unknown'],
    ['another token', { token: 'x' }, {}, 'token_rejected'],
    ['a clock that is wrong', {}, { now: () => Date.now() + 3_600_000 }, 'timestamp_refused'],
  ])('refuses %s', async (_name, fields, options, word) => {
    const error = await failureOf(engine({ ...full, ...fields }, options).get())
    expect(error).toMatchObject({ code: 'AUTH_REJECTED', credential: 'mine', message: expect.stringContaining(`401 (${word})`) })
    if (word === 'timestamp_refused') expect(error).toMatchObject({ hint: 'set the clock of this machine' })
  })
})

const get_ = get(F)

describe('the header', () => {
  const context = (fields: object = {}) => wordContext('oauth', { consumerKey: 'k', consumerSecret: 's', ...fields })

  it('the header is the same for the same clock and randomness', async () => {
    const twice = await Promise.all([1, 2].map(() => stepsOf(oauth.authorize(get_, context({ token: 't', tokenSecret: 'u' })))))
    const [header, other] = twice.map(([step]) => step?.request.headers.authorization)
    expect(header).toBe(other)
    expect(header).toMatch(
      /^OAuth oauth_consumer_key="k", oauth_token="t", oauth_signature_method="HMAC-SHA1", oauth_timestamp="1800000000", oauth_nonce="[0-9a-v]{26}", oauth_signature="[\w.~%-]+"$/,
    )
  })

  it('reports no problem that is not in the list', async () => {
    const refusal = unauthorized('OAuth realm="x", oauth_problem="s3cret"')
    expect(await stepsOf(oauth.authorize(get_, context()), [refusal])).toHaveLength(1)
  })
})

describe('is not sent', () => {
  it('does not send a PLAINTEXT signature without encryption', async () => {
    const local = 'http://127.0.0.1:8080/'
    const { auth, wire } = engine({ ...full, signatureMethod: 'PLAINTEXT', sendTo: local })
    const error = await failureOf(auth.fetch(target({ type: 'http', scheme: 'oauth' }, local)))
    expect(error).toMatchObject({ code: 'URL_INSECURE', hint: expect.stringContaining('HMAC') })
    expect(wire.sent).toEqual([])
  })

  it.each(['no key', '{"kty":"RSA"}', testKey.rsa(1024).pem, testKey.p256().pem])(
    'does not sign with a malformed key',
    async (privateKey) => {
      const { get: ask, wire } = engine({ ...full, signatureMethod: 'RSA-SHA1', privateKey })
      const error = await failureOf(ask())
      expect(error).toMatchObject({ code: 'CREDENTIAL_VALUE_INVALID', credential: 'mine' })
      expect(wire.sent).toEqual([])
      expect(shown(error)).not.toContain(privateKey.slice(30, 60) || privateKey)
    },
  )

  it.each(['consumerKey', 'consumerSecret', 'token', 'tokenSecret'])('does not send a %s with a line break', async (field) => {
    const { get: ask, wire } = engine({ ...full, [field]: 'a\r\nb' })
    expect(await failureOf(ask())).toMatchObject({ code: 'CREDENTIAL_VALUE_INVALID' })
    expect(wire.sent).toEqual([])
  })
})

it.each<[string, object, string]>([
  ['a method that nobody knows', { signatureMethod: 'HMAC-MD5' }, 'signatureMethod'],
  ['RSA without a key', { signatureMethod: 'RSA-SHA1' }, 'privateKey'],
  ['a key without RSA', { privateKey: rsa.pem }, 'privateKey'],
  ['a secret of no token', { tokenSecret: 'x' }, 'tokenSecret'],
  ['no consumer secret', { consumerSecret: undefined }, 'consumerSecret'],
])('a credential with %s is CONFIG_INVALID', async (_name, fields, field) => {
  const { get: ask, wire } = engine(fields)
  expect(await failureOf(ask())).toMatchObject({ code: 'CONFIG_INVALID', pointer: `/credentials/0/${field}` })
  expect(wire.sent).toEqual([])
})

it('no error shows a secret', async () => {
  const secrets = [canary('consumer'), canary('token', '~/'), canary('key')]
  const [one, two, three] = secrets.map(({ value }) => value)
  const error = await failureOf(engine({ consumerSecret: one, token: two, tokenSecret: three }).get())
  expect(leaks(secrets, { error: shown(error) })).toEqual([])
})
