/** Other runtimes than Node, with the package as it is built: each sends what Node sends, and nothing secret after a redirect to another origin. */
import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, type AnsweringServer, type Inquiry, startAnswering } from '../servers/answering-server.ts'
import { digestServer } from '../servers/digest-server.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** The binaries of the runtimes, which are packages without install scripts. */
const BINARIES = ['@oven/bun-linux-x64@1.4.5', '@deno/linux-x64-glibc@2.9.6', '@cloudflare/workerd-linux-64@1.20261117.1']
const SECRETS = ['right-token', 'right-key', 'right-password']

type Results = Readonly<Record<string, string>>

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'runtimes-'))
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  const options = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
  const { status } = spawnSync('npm', ['install', ...options, ...BINARIES], { cwd: folder, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error('the runtimes cannot be installed')
  symlinkSync(ROOT, join(folder, 'node_modules/stac-auth'))
  copyFileSync(join(ROOT, 'test/peers/scripts/runtime-probe.mjs'), join(folder, 'probe.mjs'))
  writeFileSync(
    join(folder, 'main.mjs'),
    "import { probe } from './probe.mjs'\nconsole.log(JSON.stringify(await probe(...process.argv.slice(2))))\n",
  )
  writeFileSync(
    join(folder, 'worker-entry.mjs'),
    `import { probe } from './probe.mjs'
export default {
  async fetch({ url }) {
    const { searchParams } = new URL(url)
    if (searchParams.has('bare')) return fetch(searchParams.get('bare'), { headers: { authorization: 'Bearer right-token' } })
    return Response.json(await probe(searchParams.get('base'), searchParams.get('other')))
  },
}
`,
  )
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const binary = (path: string) => join(folder, 'node_modules', path)

/** Results on every runtime. */
const EVERYWHERE = {
  bearer: 'bytes',
  wrong: 'AUTH_REJECTED',
  redirect: 'bytes',
  elsewhere: 'other bytes',
  keyElsewhere: 'other bytes',
  digest: 'bytes',
  oauth2: 'bytes',
  private: 'URL_ADDRESS_FORBIDDEN',
  s3: 'authorization,x-amz-content-sha256,x-amz-date',
  lint: 'dangling-ref,unused-scheme',
}

describe.each([
  ['Node', () => [process.execPath]],
  ['Bun', () => [binary('@oven/bun-linux-x64/bin/bun')]],
  ['Deno', () => [binary('@deno/linux-x64-glibc/deno'), 'run', '--allow-all', '--no-config', '--node-modules-dir=manual']],
])('%s', (_name, commandLine) => {
  it('sends the same requests as Node, and no secret to another origin', async () => {
    const [command = '', ...args] = commandLine()
    const results = await withServers(async (base, other) => {
      const env = { ...process.env, PROBE_TOKEN: 'right-token', DENO_NO_UPDATE_CHECK: '1' }
      const { stdout } = await promisify(execFile)(command, [...args, 'main.mjs', base, other], { cwd: folder, env, timeout: 60_000 })
      return JSON.parse(stdout)
    })
    // The server asks for no token of an issuer.
    expect(results).toEqual({ ...EVERYWHERE, variable: 'bytes', closed: 'NETWORK_REFUSED', issued: 'AUTH_CHALLENGE_UNSUPPORTED' })
  })
})

// `URL` follows the standard from 2022-10-31 on, and `fetch` itself drops Authorization at another origin from 2025-09-01 on.
describe.each(['2021-11-02', '2022-10-30', '2022-10-31', '2025-08-31', '2025-09-01', '2026-11-01'])(
  'workerd with the compatibility date %s',
  (date) => {
    it('sends the same requests as Node, and no secret to another origin', async () => {
      const results = await withServers((base, other) => onWorkerd(date, { base, other }))
      expect(results).toEqual({ ...EVERYWHERE, variable: 'UNSUPPORTED_IN_BROWSER', closed: 'NETWORK_FAILED', issued: 'SCHEME_UNSUPPORTED' })
    })
  },
)

it.each([
  ['2025-08-31', 'Bearer right-token'],
  ['2025-09-01', undefined],
])('workerd of compatibility date %s follows a redirect by itself with %s, which the check notices', async (date, header) => {
  const other = await startAnswering(() => ({ status: 200, body: '{}' }))
  const server = await startAnswering(guardedBy(other))
  try {
    await onWorkerd(date, { bare: `${server.origin}/elsewhere` })
    expect(other.exchanges.map(({ request }) => request.headers.authorization)).toEqual([header])
  } finally {
    await Promise.all([server.close(), other.close()])
  }
})

async function onWorkerd(date: string, query: Readonly<Record<string, string>>): Promise<Results> {
  await build({
    entryPoints: [join(folder, 'worker-entry.mjs')],
    outfile: join(folder, 'worker.mjs'),
    bundle: true,
    format: 'esm',
    target: 'es2022',
    conditions: ['workerd', 'worker', 'browser'],
    logLevel: 'error',
  })
  writeFileSync(
    join(folder, 'worker.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker), (name = "internet", network = (allow = ["public", "private", "local"]))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
const worker :Workerd.Worker = (modules = [(name = "worker", esModule = embed "worker.mjs")], compatibilityDate = "${date}");
`,
  )
  // It writes the port that it has chosen to a descriptor of ours.
  const worker = spawn(binary('@cloudflare/workerd-linux-64/bin/workerd'), ['serve', 'worker.capnp', '--control-fd=3'], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  })
  try {
    const [ready] = await once(worker.stdio[3] as NodeJS.ReadableStream, 'data')
    const { port } = JSON.parse(String(ready).split('\n')[0] ?? '')
    return (await (await fetch(`http://127.0.0.1:${port}/?${new URLSearchParams(query)}`)).json()) as Results
  } finally {
    const ended = once(worker, 'exit')
    worker.kill()
    await ended
  }
}

/** Runs with a strict server and one of another origin, which must see no secret. */
async function withServers(run: (base: string, other: string) => Promise<Results>): Promise<Results> {
  const other = await startAnswering(() => ({ status: 200, body: 'other bytes' }))
  const server = await startAnswering(guardedBy(other))
  try {
    const results = await run(server.origin, other.origin)
    expect(other.exchanges.length).toBeGreaterThanOrEqual(2)
    const seen = JSON.stringify(other.exchanges)
    for (const secret of SECRETS) expect(seen).not.toContain(secret)
    return results
  } finally {
    await Promise.all([server.close(), other.close()])
  }
}

function guardedBy(other: AnsweringServer): (request: Inquiry) => Answer {
  const digest = digestServer({ username: 'ada', password: 'right-password', algorithms: ['SHA-256'] })
  return (request) => {
    const { path, headers, method, body } = request
    if (path === '/digest') {
      const answer = digest(request)
      return answer.status === 200 ? { ...answer, body: 'bytes' } : answer
    }
    if (path === '/token') {
      const isRight = method === 'POST' && headers.authorization === `Basic ${btoa('c:s')}` && body.includes('client_credentials')
      const token = JSON.stringify({ access_token: 'right-token', token_type: 'Bearer', expires_in: 60 })
      return isRight ? { status: 200, headers: { 'content-type': 'application/json' }, body: token } : { status: 401 }
    }
    const isKnown = headers.authorization === 'Bearer right-token' || headers['x-api-key'] === 'right-key'
    if (!isKnown) return { status: 401, headers: { 'www-authenticate': 'Bearer' } }
    if (path === '/redirect') return { status: 302, headers: { location: '/file' } }
    if (path === '/elsewhere') return { status: 302, headers: { location: `${other.origin}/file` } }
    return { status: 200, body: 'bytes' }
  }
}
