/** `--verbose` and `STAC_AUTH_DEBUG`: what is logged of each request, and that no secret is. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, type AnsweringServer, type Inquiry, startAnswering } from '../servers/answering-server.ts'
import { temporaryFolder } from './folder.ts'
import { itemWith } from './items.ts'
import { run } from './run.ts'

const TOKEN = 'right-token-4711'
const SECRET = 'client-secret-0815'
const KEY = 'key-in-a-query-99'

let folder = ''
let server: AnsweringServer
let other: AnsweringServer
let refusals = 0

beforeAll(async () => {
  folder = await temporaryFolder()
  other = await startAnswering(() => ({ status: 200, body: 'elsewhere' }))
  server = await startAnswering(answer)
  const schemes = {
    oauth: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: `${server.origin}/token`, scopes: {} } } },
    key: { type: 'apiKey', in: 'query', name: 'key' },
  }
  const asset = (path: string, ref: string) => ({ href: `${server.origin}${path}`, 'auth:refs': [ref] })
  const assets = {
    file: asset('/file', 'oauth'),
    moved: asset('/moved', 'oauth'),
    away: asset('/away', 'oauth'),
    echo: asset('/echo', 'oauth'),
    key: asset('/key?page=1', 'key'),
    busy: asset('/busy', 'oauth'),
  }
  const sendTo = [`${server.origin}/`]
  const tokenUrl = `${server.origin}/token`
  const credentials = [
    { id: 'oauth', type: 'oauth2', flow: 'clientCredentials', tokenUrl, clientId: 'me', clientSecret: { env: 'SECRET' }, sendTo },
    { id: 'query', type: 'apiKey', in: 'query', name: 'key', value: { env: 'KEY' }, sendTo: [...sendTo, `${other.origin}/`] },
  ]
  await writeFile(join(folder, 'item.json'), JSON.stringify(itemWith(assets, { schemes })))
  await writeFile(join(folder, 'credentials.json'), JSON.stringify({ version: 1, credentials }), { mode: 0o600 })
  for (const [name, value] of Object.entries({ SECRET, KEY })) process.env[name] = value
})
afterAll(async () => {
  for (const name of ['SECRET', 'KEY']) delete process.env[name]
  await Promise.all([server.close(), other.close()])
})

function answer({ path, headers, query }: Inquiry): Answer {
  if (path === '/token') {
    if (headers.authorization !== `Basic ${btoa(`me:${SECRET}`)}`) return { status: 401 }
    const token = { access_token: TOKEN, token_type: 'Bearer', expires_in: 3600 }
    return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(token) }
  }
  if (path === '/key') return query.get('key') === KEY ? { status: 200, body: 'bytes' } : { status: 401 }
  if (headers.authorization !== `Bearer ${TOKEN}`)
    return { status: 401, headers: { 'www-authenticate': 'Bearer realm="x", Digest qop="auth"' } }
  if (path === '/moved') return { status: 302, headers: { location: '/file?signature=s3cret' } }
  if (path === '/away') return { status: 302, headers: { location: `${other.origin}/file?signature=s3cret` } }
  if (path === '/echo') return { status: 307, headers: { location: `/file/${TOKEN}` } }
  if (path === '/busy' && refusals++ === 0) return { status: 503, headers: { 'retry-after': '0' } }
  return { status: 200, body: 'bytes' }
}

/** Runs a command and returns the lines of its log. */
async function logOf(argv: readonly string[], env: Record<string, string> = {}) {
  const { stderr } = await run([...argv, '--credentials', join(folder, 'credentials.json')], { env })
  for (const secret of [TOKEN, SECRET, KEY, btoa(`me:${SECRET}`), 's3cret']) expect(stderr).not.toContain(secret)
  return stderr
    .split('\n')
    .filter((line) => line.startsWith('debug '))
    .map((line) =>
      line
        .replace(/ \d+ ms/, '')
        .replaceAll(server.origin, 'SERVER')
        .replaceAll(other.origin, 'OTHER'),
    )
}

const fetched = (asset: string) => ['fetch', join(folder, 'item.json'), '--asset', asset]

describe('--verbose', () => {
  it('logs the token request and the request of the asset, then the use of the stored token', async () => {
    expect(await logOf([...fetched('file'), '-v'])).toEqual([
      'debug POST SERVER/token 200: credential "oauth" (oauth2), token request',
      'debug GET SERVER/file 200: credential "oauth" (oauth2)',
    ])
    expect(await logOf([...fetched('file'), '--verbose'])).toEqual(['debug GET SERVER/file 200: credential "oauth" (oauth2), stored token'])
  })

  it('says where a redirect leads, without its query, and that another origin gets no credential', async () => {
    expect(await logOf([...fetched('moved'), '-v'])).toEqual([
      'debug GET SERVER/moved 302: credential "oauth" (oauth2), stored token, redirect to /file',
      'debug GET SERVER/file 200: credential "oauth" (oauth2), after a redirect, stored token',
    ])
    expect(await logOf([...fetched('away'), '-v'])).toEqual([
      'debug GET SERVER/away 302: credential "oauth" (oauth2), stored token, redirect to another origin, OTHER/file',
      'debug GET OTHER/file 200: no credential, after a redirect',
    ])
  })

  it('redacts a token that a server repeats in a path', async () => {
    expect(await logOf([...fetched('echo'), '-v'])).toEqual([
      'debug GET SERVER/echo 307: credential "oauth" (oauth2), stored token, redirect to /file/[secret]',
      'debug GET SERVER/file/[secret] 200: credential "oauth" (oauth2), after a redirect, stored token',
    ])
  })

  it('shows URLs that were sent in a query, as to a signing service, without the values in them', async () => {
    const inner = encodeURIComponent(`${server.origin}/echo?signature=s3cret`)
    const log = await logOf(['fetch', `${server.origin}/key?key=${KEY}&href=${inner}`, '-v'])
    expect(log).toEqual([expect.stringMatching(/^debug GET SERVER\/key 200: /)])
  })

  it('says why a request is sent again', async () => {
    const log = await logOf(['download', join(folder, 'item.json'), '--asset', 'busy', '-d', folder, '-v'])
    expect(log).toEqual([
      'debug GET SERVER/busy 503: credential "oauth" (oauth2), stored token, Retry-After 0',
      'debug GET SERVER/busy 200: credential "oauth" (oauth2), attempt 2 after 503, stored token',
    ])
  })

  it('names the HTTP authentication schemes of a refused request', async () => {
    const env = { STAC_AUTH_TOKEN: 'wrong', STAC_AUTH_TOKEN_FOR: `${server.origin}/` }
    const { stderr } = await run(['fetch', `${server.origin}/file`, '-v'], { env })
    expect(stderr).toMatch(/^debug GET .*\/file 401 \d+ ms: credential "env" \(http\), the server offers Bearer, Digest$/m)
  })

  it('logs JSON lines with --json', async () => {
    const { stderr } = await run(['explain', `${server.origin}/file`, '--json', '-v'])
    const [line = ''] = stderr.split('\n')
    expect(JSON.parse(line)).toEqual({
      severity: 'debug',
      request: {
        method: 'GET',
        url: `${server.origin}/file`,
        status: 401,
        milliseconds: expect.any(Number),
        notes: ['the server offers Bearer, Digest'],
      },
    })
  })

  it('logs the error code of a request without a response', async () => {
    const { stderr } = await run(['fetch', 'http://127.0.0.1:1/x', '-v'])
    expect(stderr).toMatch(/^debug GET http:\/\/127\.0\.0\.1:1\/x NETWORK_REFUSED \d+ ms: no credential$/m)
  })
})

it('logs with STAC_AUTH_DEBUG as with --verbose, and not with 0', async () => {
  expect(await logOf(fetched('file'), { STAC_AUTH_DEBUG: '1' })).toHaveLength(1)
  expect(await logOf(fetched('file'), { STAC_AUTH_DEBUG: '0' })).toEqual([])
  expect(await logOf(fetched('file'))).toEqual([])
})
