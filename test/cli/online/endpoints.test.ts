import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type AuthorizationServer, startAuthorizationServer } from '../../servers/authorization-server.ts'
import { put, temporaryFolder } from '../folder.ts'
import { itemWith, keyFor } from '../items.ts'
import { run } from '../run.ts'
import { KEY } from '../server.ts'

const folder = await temporaryFolder()
const PAGES = 'https://page.example'
const DISCOVERY = '/.well-known/openid-configuration'

/** What the server answers besides the provider: documents, and endpoints with mistakes. */
const documents = new Map<string, object>()
const asked: { readonly line: string; readonly headers: IncomingMessage['headers']; readonly body: string }[] = []
const answers: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
  '/html': (response) => response.setHeader('content-type', 'text/html; charset=utf-8').end('<!doctype html>'),
  '/busy': (response) => response.writeHead(503).end(),
  '/moved': (response) => response.writeHead(302, { location: '/token?code=secret' }).end(),
  '/a.tif': (response) =>
    response.writeHead(204, { 'access-control-allow-origin': PAGES, 'access-control-allow-headers': 'authorization' }).end(),
  '/closed.tif': (response) => response.writeHead(403).end(),
  '/closed': (response) => response.writeHead(400).end('{"error":"invalid_request"}'),
  [`/closed${DISCOVERY}`]: (response) =>
    response.end(JSON.stringify({ issuer: `${server.issuer}/closed`, token_endpoint: `${server.issuer}/closed` })),
  '/sign': (response) => response.writeHead(401).end(),
  '/reset': (response) => response.destroy(),
  [`/other${DISCOVERY}`]: (response) =>
    response.end(JSON.stringify({ issuer: 'https://else.example', token_endpoint: `${server.issuer}/token` })),
  [`/array${DISCOVERY}`]: (response) => response.end('[]'),
}

function interfere(request: IncomingMessage, response: ServerResponse): boolean {
  const path = (request.url ?? '').replace(/\?.*/s, '')
  const document = documents.get(path)
  if (document) return Boolean(response.end(JSON.stringify(document)))
  const seen = { line: `${request.method} ${path}`, headers: request.headers, body: '' }
  asked.push(seen)
  request.on('data', (chunk) => {
    seen.body += chunk
  })
  const answer = Object.hasOwn(answers, path) ? answers[path] : undefined
  answer?.(response)
  return answer !== undefined
}

let server: AuthorizationServer
let other: AuthorizationServer
beforeAll(async () => {
  vi.stubEnv('STAC_AUTH_TEST_KEY', KEY)
  server = await startAuthorizationServer({ pages: PAGES, interfere })
  other = await startAuthorizationServer({ interfere })
})
afterEach(() => {
  asked.length = 0
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await Promise.all([server.close(), other.close()])
})

interface Found {
  readonly code: string
  readonly pointer: string
  readonly message: string
  readonly line: number
}

const ONLINE = ['endpoint-unreachable', 'endpoint-answer', 'endpoint-metadata', 'scope-unlisted', 'endpoint-cors']

/** Lints documents with these schemes, which the authorization server itself serves. */
async function found(schemes: object, { argv = [] as readonly string[], paths = ['/item.json'] } = {}) {
  const item = itemWith({ data: { href: `${server.issuer}/a.tif`, 'auth:refs': Object.keys(schemes) } }, { schemes: schemes as never })
  for (const path of paths) documents.set(path, item)
  const credentials = await put(folder, 'credentials.json', keyFor(`${server.issuer}/`))
  const inputs = paths.map((path) => server.issuer + path)
  const { stdout, code } = await run(['lint', '--online', '--format', 'json', ...inputs, '--credentials', credentials, ...argv])
  const problems = (JSON.parse(stdout).problems as readonly Found[]).filter((problem) => ONLINE.includes(problem.code))
  return { code, problems, told: problems.map((problem) => [problem.code, problem.pointer.replace(/^\/properties\/auth:schemes/, '')]) }
}

const oidc = (openIdConnectUrl: string) => ({ type: 'openIdConnect', openIdConnectUrl })
const oauth = (flow: object) => ({ type: 'oauth2', flows: { authorizationCode: { scopes: {}, ...flow } } })
const whole = (issuer: string, more: object = {}) => oauth({ authorizationUrl: `${issuer}/auth`, tokenUrl: `${issuer}/token`, ...more })

describe('lint --online of a real authorization server', () => {
  it('finds nothing wrong, asks each address once, and sends no credential', async () => {
    const schemes = { oidc: oidc(server.issuer + DISCOVERY), again: oidc(server.issuer + DISCOVERY), oauth: whole(server.issuer) }
    const { problems } = await found(schemes, { paths: ['/item.json', '/same.json'] })
    expect(problems).toEqual([])
    const lines = asked.map(({ line }) => line).sort()
    expect(lines).toEqual([
      'GET /.well-known/oauth-authorization-server',
      'GET /.well-known/openid-configuration',
      'GET /auth',
      'OPTIONS /a.tif',
      'OPTIONS /token',
      'POST /token',
    ])
    for (const { headers, body } of asked) {
      expect(Object.keys(headers).filter((name) => /^authorization$|key|cookie/.test(name))).toEqual([])
      expect([undefined, '', 'grant_type=authorization_code']).toContain(body)
    }
  })

  it('names scopes that the server does not list, and endpoints that it does not publish', async () => {
    const scopes = { read: 'Read', 'a/b': 'No such scope' }
    const flow = { authorizationUrl: `${server.issuer}/auth`, tokenUrl: `${server.issuer}/token?v=secret`, scopes }
    const { problems, told } = await found({ login: oauth(flow) })
    const at = '/login/flows/authorizationCode'
    expect(told).toEqual([
      ['scope-unlisted', `${at}/scopes/a~1b`],
      ['endpoint-metadata', `${at}/tokenUrl`],
    ])
    expect(problems.map(({ message }) => message)).toEqual([
      `the scope "a/b" is not in scopes_supported of ${server.issuer}${DISCOVERY}`,
      `tokenUrl is not the token_endpoint that ${server.issuer}${DISCOVERY} publishes: ${server.issuer}/token`,
    ])
    expect(problems.every(({ line }) => line === 1)).toBe(true)
  })

  it('reports endpoints that pages of other origins cannot use, as info', async () => {
    const { code, problems } = await found({
      login: whole(server.issuer, { tokenUrl: `${server.issuer}/closed` }),
      oidc: oidc(`${server.issuer}/closed${DISCOVERY}`),
    })
    const closedTo = problems.filter((problem) => problem.code === 'endpoint-cors')
    expect(code).toBe(0)
    expect(closedTo.map(({ message }) => message.replaceAll(server.issuer, '').replace(/.*: /, ''))).toEqual([
      'OPTIONS /closed was answered 400 without Access-Control-Allow-Origin for it',
      `GET /closed${DISCOVERY} was answered 200 without Access-Control-Allow-Origin for it`,
      'OPTIONS /closed was answered 400 without Access-Control-Allow-Origin for it',
    ])
  })
})

describe('lint --online reports at the URL', () => {
  it.each([
    ['a page', '/html', 'endpoint-answer', 'was answered 200 text/html: expected 400 or 401 with a JSON object that has "error"'],
    ['a redirect', '/moved', 'endpoint-answer', 'was answered 302 with a redirect to /token?code=…: expected'],
    ['nothing at that path', '/gone', 'endpoint-answer', 'was answered 404'],
    ['503', '/busy', 'endpoint-unreachable', 'did not succeed: the server answered 503'],
    ['the end of the connection', '/reset', 'endpoint-unreachable', '(NETWORK_RESET)'],
  ])('a token endpoint that answers %s', async (_name, path, code, text) => {
    const { problems, told } = await found({ login: whole(server.issuer, { tokenUrl: server.issuer + path }) })
    expect(told[0]).toEqual([code, '/login/flows/authorizationCode/tokenUrl'])
    expect(problems[0]?.message).toContain(`POST ${server.issuer}${path} `)
    expect(problems[0]?.message).toContain(text)
  })

  it.each([
    [`/other${DISCOVERY}`, 'endpoint-metadata', 'openIdConnectUrl is not the URL of the issuer that '],
    [`/array${DISCOVERY}`, 'endpoint-answer', 'expected a discovery document with "issuer" and endpoints'],
    ['/none', 'endpoint-answer', 'was answered 404'],
    ['/html/.well-known/openid-configuration', 'endpoint-answer', 'was answered 404'],
  ])('a discovery URL that answers otherwise: %s', async (path, code, text) => {
    const { problems } = await found({ login: oidc(server.issuer + path) })
    expect(problems.filter((problem) => problem.code !== 'endpoint-cors')).toMatchObject([
      { code, pointer: '/properties/auth:schemes/login/openIdConnectUrl', message: expect.stringContaining(text) },
    ])
  })

  it('an authorization endpoint or a signing service that is not there, and none that asks for a login', async () => {
    const signed = (path: string) => ({ type: 'signedUrl', flows: { x: { authorizationApi: path, method: 'POST' } } })
    const login = whole(server.issuer, { authorizationUrl: `${server.issuer}/nowhere` })
    const { told } = await found({ login, sign: signed('/sign'), gone: signed(`${server.issuer}/gone`) })
    expect(told.filter(([code]) => code === 'endpoint-answer')).toEqual([
      ['endpoint-answer', '/login/flows/authorizationCode/authorizationUrl'],
      ['endpoint-answer', '/gone/flows/x/authorizationApi'],
    ])
    expect(asked.map(({ line }) => line)).toContain('POST /sign')
  })

  it('a private address that only a document names, which is not asked', async () => {
    const { problems } = await found({ login: oauth({ tokenUrl: `${other.issuer}/token` }) })
    expect(problems).toMatchObject([{ code: 'endpoint-unreachable', message: expect.stringContaining('(URL_ADDRESS_FORBIDDEN)') }])
    expect(asked.map(({ line }) => line)).toEqual(['OPTIONS /a.tif'])
  })
})

it('lint --online asks once per server whether pages may read its files, with the header of their scheme', async () => {
  const file = (name: string, ref: string) => ({ href: `${server.issuer}/${name}.tif`, 'auth:refs': [ref] })
  const schemes = {
    key: { type: 'apiKey', in: 'header', name: 'X-Key' },
    query: { type: 'apiKey', in: 'query', name: 'k' },
    odd: { type: 'apiKey', in: 'header', name: 'a\r\nb' },
  }
  const assets = { query: file('query', 'query'), odd: file('odd', 'odd'), first: file('closed', 'key'), second: file('a', 'key') }
  documents.set('/files.json', itemWith(assets, { schemes: schemes as never }))
  documents.set('/more.json', itemWith({ second: file('a', 'key') }, { schemes: schemes as never }))
  const { stdout } = await run(['lint', '--online', '--format', 'json', `${server.issuer}/files.json`, `${server.issuer}/more.json`])
  const problems = JSON.parse(stdout).problems.filter(({ code }: Found) => code === 'endpoint-cors')
  const message = `pages of other origins cannot use it: OPTIONS ${server.issuer}/closed.tif was answered 403 without Access-Control-Allow-Origin for it`
  expect(problems).toMatchObject([
    { pointer: '/assets/first/href', message, severity: 'info', id: 'x' },
    { pointer: '/assets/second/href', message },
  ])
  expect(asked.map(({ line, headers }) => [line, headers['access-control-request-headers']])).toEqual([['OPTIONS /closed.tif', 'x-key']])
})

it('lint --online asks nothing of rules that are off, and lint without it asks nothing', async () => {
  const off = ONLINE.flatMap((code) => ['--rule', `${code}=off`])
  expect((await found({ login: whole(`${server.issuer}/gone`) }, { argv: off })).problems).toEqual([])
  await run(['lint', `${server.issuer}/item.json`])
  expect(asked).toEqual([])
})

it('lint --online checks the schemes of lists and of Items in lists, and says of which', async () => {
  const item = itemWith(
    { data: { href: `${server.issuer}/a.tif`, 'auth:refs': ['login'] } },
    { schemes: { login: whole(server.issuer, { tokenUrl: `${server.issuer}/gone` }) } as never },
  )
  documents.set('/list.json', {
    type: 'FeatureCollection',
    features: [item, { ...item, id: 'y' }],
    'auth:schemes': { own: oidc(`${server.issuer}/none`) },
  })
  const { stdout } = await run(['lint', '--online', '--format', 'json', `${server.issuer}/list.json`])
  const problems = JSON.parse(stdout).problems.filter(({ code }: Found) => code === 'endpoint-answer')
  expect(problems).toMatchObject([
    { pointer: '/features/0/properties/auth:schemes/login/flows/authorizationCode/tokenUrl', count: 2, places: [{ id: 'x' }, { id: 'y' }] },
    { pointer: '/auth:schemes/own/openIdConnectUrl' },
  ])
})
