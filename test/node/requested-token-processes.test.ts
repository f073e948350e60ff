/** Requested tokens over real connections: of processes that share a store, and refusals with what the server says. */
import { execFile } from 'node:child_process'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import { undiciTransport } from '../../src/node/transport/undici-transport.ts'
import { temporaryFolder } from '../cli/folder.ts'
import { failureOf } from '../harness/failure.ts'

const execute = promisify(execFile)
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

interface Answers {
  /** The answer of the token endpoint; default: another token for each request, not at once. */
  readonly token?: { readonly status: number; readonly body: unknown }
  /** The answer of files. */
  readonly data?: { readonly status: number; readonly body: unknown }
  /** How many wait for each other at `/ready`. */
  readonly callers?: number
}

/** A token endpoint for one password, and files for its tokens. */
async function startArchive({ token, data, callers = 1 }: Answers = {}) {
  const ready: ServerResponse[] = []
  const seen: string[] = []
  let issued = 0
  const server = createServer((request, response) => {
    const end = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    const { method, url = '', headers } = request
    if (url === '/ready') {
      ready.push(response)
      if (ready.length === callers) for (const one of ready) one.end()
      return
    }
    seen.push(`${method} ${url}`)
    if (url.startsWith('/token')) {
      if (method !== 'POST' || headers.authorization !== `Basic ${btoa('ada:pw')}`) return end(401, { error: 'invalid_credentials' })
      if (token) return end(token.status, token.body)
      return void setTimeout(() => end(200, { access_token: `t${++issued}`, expires_in: 3600 }), 200)
    }
    if (!/^Bearer t\d$/.test(headers.authorization ?? '')) return end(401, {})
    return end(data?.status ?? 200, data?.body ?? headers.authorization)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

function engineAt(origin: string) {
  const account = { id: 'account', type: 'http', scheme: 'basic', username: 'ada', password: 'pw', sendTo: `${origin}/token` } as const
  const archive = {
    id: 'archive',
    type: 'http',
    scheme: 'bearer',
    tokenUrl: `${origin}/token`,
    with: 'account',
    sendTo: `${origin}/data/`,
  } as const
  return createAuth({ credentials: [account, archive], transport: undiciTransport() })
}

describe('a requested token over real connections', () => {
  it('a requested token is requested once by five processes that start cold', async () => {
    const [folder, { origin, seen }] = [await temporaryFolder(), await startArchive({ callers: 5 })]
    const script = join(folder, 'process.mjs')
    await build({
      entryPoints: [here('requested-token-process.ts')],
      outfile: script,
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'error',
      alias: { '#platform': here('../../src/platform/node.ts') },
      external: ['@napi-rs/keyring', '@aws-sdk/*', 'kerberos', '@cloudflare/privacypass-ts'],
      banner: { js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url)" },
    })
    const runs = Array.from({ length: 5 }, () => execute(process.execPath, [script, join(folder, 'tokens'), origin]))
    const outputs = await Promise.all(runs)
    expect(outputs.map(({ stdout }) => stdout.trim())).toEqual(Array(5).fill('"Bearer t1"'))
    expect(seen.filter((line) => line === 'POST /token')).toHaveLength(1)
  })

  const terms = { error: 'EULA Acceptance Failure', resolution_url: 'https://login.example/approve_app?client_id=a' }

  it('a token request that is refused until terms are accepted names their page, and a file as well', async () => {
    const login = await startArchive({ token: { status: 403, body: terms } })
    const files = await startArchive({ data: { status: 403, body: terms } })
    for (const { origin, refused } of [
      { ...login, refused: 'the token endpoint of "archive"' },
      { ...files, refused: files.origin },
    ]) {
      const failure = await failureOf(engineAt(origin).fetch(`${origin}/data/a`))
      expect(failure).toMatchObject({ code: 'AUTH_REJECTED', message: expect.stringContaining('EULA Acceptance Failure') })
      expect(failure.message).toContain(refused)
      expect(failure).toMatchObject({ hint: expect.stringContaining('the server names https://login.example/approve_app?client_id=a') })
    }
  })

  it('a token request that is refused never repeats the password, though the server does', async () => {
    const echo = createServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray())
      response
        .writeHead(401)
        .end(JSON.stringify({ message: `you sent ${request.headers.authorization} and ${decodeURIComponent(String(body))}` }))
    })
    await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void echo.close())
    const origin = `http://127.0.0.1:${(echo.address() as AddressInfo).port}`
    const fields = { id: 'archive', type: 'http', scheme: 'bearer', tokenUrl: `${origin}/token`, sendTo: 'https://data.example/' } as const
    const account = { id: 'account', type: 'http', scheme: 'basic', username: 'ada', password: 'canary pw', sendTo: origin } as const
    const tokenParameters = { username: 'ada', password: () => 'canary pw' }
    const kinds = [
      [account, { ...fields, with: 'account' }],
      { ...fields, tokenParameters },
      { ...fields, tokenParameters, tokenRequest: 'json' },
    ] as const
    for (const credentials of kinds) {
      const failure = await failureOf(createAuth({ credentials, transport: undiciTransport() }).fetch('https://data.example/a'))
      expect(failure).toMatchObject({ code: 'AUTH_REJECTED', message: expect.stringContaining('The server says: you sent') })
      expect(JSON.stringify(failure) + String(failure)).not.toMatch(/canary|Y2FuYXJ5/)
    }
  })
})
