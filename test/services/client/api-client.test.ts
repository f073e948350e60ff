import { expect, it } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import { ApiClient, type ApiClientOptions } from '../../../src/services/client/api-client.ts'
import { ServiceLimits } from '../../../src/services/client/pacer.ts'
import { failureOf } from '../../harness/failure.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { jsonAnswer, startAnswering } from '../../servers/answering-server.ts'
import { clientOf, KEY, operation, service, TOKEN, transport } from './service.ts'

const safe = operation('safe', 'GET')

it.each([
  ['http://api.example/v1', 'URL_INSECURE'],
  ['http://127.0.0.1/v1', 'URL_INSECURE'],
  ['https://user:pw@api.example/v1', 'CONFIG_INVALID'],
  ['https://api.example/v1?key=1', 'CONFIG_INVALID'],
  ['https://api.example/v1#a', 'CONFIG_INVALID'],
  ['s3://api/v1', 'CONFIG_INVALID'],
  ['api.example', 'CONFIG_INVALID'],
])('refuses the base URL %s before it reads a credential', (baseUrl, code) => {
  let asked = 0
  const value = () => String(++asked)
  const make =
    (more: Partial<ApiClientOptions> = {}) =>
    () =>
      new ApiClient({ baseUrl, credential: { ...KEY, value }, ...more })
  expect(make()).toThrow(expect.objectContaining({ code }))
  if (baseUrl.includes('api.example')) expect(make({ allowInsecure: 'loopback' })).toThrow(expect.objectContaining({ code }))
  expect(asked).toBe(0)
})

it.each(['s3://api/v1', 'ftp://api.example/v1', 'api.example/v1'])('says how a base URL such as %s begins', (baseUrl) => {
  expect(() => new ApiClient({ baseUrl })).toThrow(expect.objectContaining({ message: 'baseUrl must begin with https:' }))
})

it('takes an engine instead of a credential, and refuses one that is not for the base URL', async () => {
  const { origin } = await service(() => ({ status: 200, body: '[1]' }))
  const wide = createAuth({ credentials: [{ ...KEY, sendTo: `${origin}/` }], transport })
  const { client } = clientOf(origin, { credential: undefined, auth: wide })
  expect(await client.call(safe)).toEqual([1])
  const elsewhere = createAuth({ credentials: [{ ...KEY, sendTo: 'https://other.example/' }], transport })
  const { client: refused } = clientOf(origin, { credential: undefined, auth: elsewhere })
  expect(await failureOf(refused.call(safe))).toMatchObject({ name: 'TrustError' })
})

it('asks a function for the credential at every attempt', async () => {
  const keys = ['Token stale', `Token ${TOKEN}`]
  let asked = 0
  const { origin } = await service(() => ({ status: asked === 1 ? 500 : 200 }))
  const { client } = clientOf(origin, { credential: { ...KEY, value: () => keys[Math.min(asked++, 1)] ?? '' } })
  expect(await failureOf(client.call(safe))).toMatchObject({ code: 'HTTP_401', name: 'AuthenticationError', attempts: 1 })
  expect(await client.send(safe)).toMatchObject({ status: 200, attempts: 1 })
})

it('refreshes a token that the server refuses once, and sends again once', async () => {
  let issued = 0
  const server = await startAnswering(({ path, headers }) => {
    if (path === '/token')
      return {
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ access_token: `token-${++issued}`, token_type: 'Bearer', expires_in: 3600 }),
      }
    return { status: headers.authorization === 'Bearer token-2' ? 200 : 401 }
  })
  const credential = {
    type: 'oauth2',
    flow: 'clientCredentials',
    tokenUrl: `${server.origin}/token`,
    clientId: 'me',
    clientSecret: 'mine',
    sendTo: `${server.origin}/`,
  }
  const { client } = clientOf(server.origin, { credential: unchecked(credential) })
  expect(await client.send(safe)).toMatchObject({ status: 200, attempts: 2 })
  const { client: other } = clientOf(server.origin, { credential: unchecked(credential), refresh: false })
  issued = 5
  expect(await failureOf(other.call(safe))).toMatchObject({ code: 'HTTP_401' })
  await server.close()
})

it('uses another credential for one call, with limits of its own', async () => {
  const { origin } = await service(() => ({ status: 200 }))
  const { client } = clientOf(origin, { credential: { ...KEY, value: 'Token wrong' } })
  expect(await failureOf(client.call(safe))).toMatchObject({ code: 'HTTP_401' })
  expect(await client.send(safe, {}, { credential: KEY })).toMatchObject({ status: 200 })
})

it('sends what was asked for: query, headers, body, and refuses what a call may not say', async () => {
  const { origin, exchanges } = await service(() => ({ status: 200 }))
  const { client } = clientOf(origin, { userAgent: 'mine', pinnedHeaders: ['User-Agent'] })
  const post = operation('unsafe', 'POST', { path: '/things/{id}' })
  const input = { path: { id: '../usage?x=1#' }, query: { a: 'x+y&z=ü' }, body: { b: [1, null] } }
  await client.call(post, input, { headers: { 'X-Tag': 'a' }, extraBody: { c: 2 }, query: { d: true } })
  const [{ request } = { request: undefined }] = exchanges
  expect(request).toMatchObject({ target: '/v1/things/..%2Fusage%3Fx%3D1%23?a=x%2By%26z%3D%C3%BC&d=1', body: '{"b":[1,null],"c":2}' })
  expect(request?.headers).toMatchObject({ 'x-tag': 'a', 'user-agent': 'mine', 'content-type': 'application/json' })
  const refused: readonly (readonly [object, object])[] = [
    [{}, { headers: { Authorization: 'x' } }],
    [{}, { headers: { 'user-agent': 'x' } }],
    [{}, { headers: { host: 'x' } }],
    [{}, { headers: { 'x-a': 'b\r\nc: d' } }],
    [{}, { extraBody: { b: 1 } }],
    [{}, { query: { a: 1 } }],
    [{ path: {} }, {}],
    [{ path: { id: '..' } }, {}],
    [{ path: { id: 'a%2Fb' } }, {}],
    [{ path: { id: -1 } }, {}],
    [{ body: { n: Number.NaN } }, {}],
    [{ body: { list: [1, undefined] } }, {}],
    [{ body: { list: Array(2) } }, {}],
    [{ body: { at: new Date(Number.NaN) } }, {}],
  ]
  for (const [more, options] of refused)
    expect(await failureOf(client.call(post, { ...input, ...more }, options))).toMatchObject({ name: 'ValidationError', attempts: 0 })
  expect(exchanges).toHaveLength(1)
})

it('streams a body, again only when it can be made again', async () => {
  const { origin, exchanges } = await service((_request, index) => ({ status: index % 2 === 0 ? 500 : 200 }))
  const { client, clock } = clientOf(origin)
  const upload = operation('idem', 'POST', { contentType: 'text/plain' })
  const content = async function* () {
    yield new TextEncoder().encode('a'.repeat(70_000))
    yield new TextEncoder().encode('b')
  }
  expect(await clock.run(client.send(upload, { content }))).toMatchObject({ attempts: 2 })
  expect(exchanges.map(({ request }) => request.body.length)).toEqual([70_001, 70_001])
  expect(exchanges[0]?.request.headers).toMatchObject({ 'transfer-encoding': 'chunked', 'content-type': 'text/plain' })
  expect(await failureOf(client.send(upload, { content: content() }))).toMatchObject({ code: 'HTTP_500', attempts: 1 })
})

it('refuses an answer that is too long, and reads compressed ones', async () => {
  const { gzipSync } = await import('node:zlib')
  const { origin } = await service(({ path }) =>
    path === '/v1/long'
      ? { status: 200, body: JSON.stringify('x'.repeat(2000)) }
      : { status: 200, headers: { 'content-encoding': 'gzip' }, body: gzipSync('{"a":1}') },
  )
  const { client } = clientOf(origin)
  expect(await failureOf(client.call({ ...safe, path: '/long', limit: 1000 }))).toMatchObject({ code: 'RESPONSE_TOO_LARGE' })
  expect(await client.call(safe)).toEqual({ a: 1 })
})

it('lets interceptors change headers and hear of answers, at every attempt', async () => {
  const { origin, exchanges } = await service((_request, index) => ({ status: index === 0 ? 503 : 200 }))
  const { client, clock } = clientOf(origin)
  const heard: number[] = []
  client.use({
    before: (request, { attempt }) => ({
      ...request,
      url: 'https://evil.example/',
      headers: { ...request.headers, 'x-attempt': String(attempt) },
    }),
    after: ({ status }) => {
      heard.push(status)
    },
  })
  await clock.run(client.call(safe))
  expect(exchanges.map(({ request }) => request.headers['x-attempt'])).toEqual(['1', '2'])
  expect(heard).toEqual([503, 200])
})

it('shares limits between clients of one origin and one credential', async () => {
  const { origin } = await service(() => ({ status: 456 }))
  const limits = new ServiceLimits()
  const both = [clientOf(origin, { limits }), clientOf(origin, { limits }), clientOf(origin, { limits, credential: { ...KEY, id: 'b' } })]
  const [one, two, other] = both.map(({ client }) => client)
  await failureOf<{ attempts: number }>(one?.call(safe) ?? Promise.resolve())
  const pair = await Promise.all([
    failureOf<{ attempts: number }>(two?.call(safe) ?? Promise.resolve()),
    failureOf<{ attempts: number }>(two?.call(safe) ?? Promise.resolve()),
  ])
  expect(pair.map(({ attempts }) => attempts)).toEqual([1, 0])
  const others = await Promise.all([
    failureOf<{ attempts: number }>(other?.call(safe) ?? Promise.resolve()),
    failureOf<{ attempts: number }>(other?.call(safe) ?? Promise.resolve()),
  ])
  expect(others.map(({ attempts }) => attempts)).toEqual([1, 1])
})

it('a client may reach a private address that the user configured, never one that a service names', async () => {
  const granted: unknown[] = []
  const send = (_request: unknown, options: { readonly allowPrivateNetwork?: boolean } = {}) => {
    granted.push(options.allowPrivateNetwork)
    return Promise.reject(new Error('not sent in this test'))
  }
  const client = new ApiClient({ baseUrl: 'https://api.example/v1', transport: send, retries: 0 })
  await failureOf(client.call(safe))
  await failureOf(client.elsewhere('https://named.example/file').client.call(safe))
  expect(granted).toEqual([true, false])
})

it('a client with another credential keeps listeners, interceptors and the redaction of secrets', async () => {
  const other = 'Token of-somebody-else'
  const server = await startAnswering(({ headers }) =>
    jsonAnswer(headers['x-added'] === 'yes' ? 400 : 200, { message: headers['x-repeat'] }),
  )
  const { client } = clientOf(server.origin)
  const seen: unknown[] = []
  client.on('response', (event) => seen.push(event.status))
  client.use({ before: (request) => ({ ...request, headers: { ...request.headers, 'x-added': 'yes', 'x-repeat': 'key-of-document' } }) })
  client.protect('key-of-document')
  const credential = { type: 'apiKey', in: 'header', name: 'authorization', value: other }
  const errors = await Promise.all(
    [
      client.withCredential(unchecked(credential)).call(operation('safe', 'GET')),
      client.call(operation('safe', 'GET'), {}, { credential: unchecked(credential) }),
    ].map(failureOf),
  )
  await server.close()
  for (const error of errors) {
    expect(error).toMatchObject({ code: 'HTTP_400' })
    expect(error.message).toContain('[secret]')
    expect(JSON.stringify(error)).not.toContain('key-of-document')
  }
  expect(seen).toEqual([400, 400])
})
