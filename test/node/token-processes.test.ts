import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { tokenFiles } from '../../src/node/tokens/token-files.ts'
import { temporaryFolder } from '../cli/folder.ts'
import { canary, leaks } from '../harness/canary.ts'
import { KEY } from '../harness/stores.ts'

const execute = promisify(execFile)
const base = await temporaryFolder()
const script = join(base, 'token-process.mjs')
// Compiled once instead of in every process.
await build({
  entryPoints: [join(dirname(fileURLToPath(import.meta.url)), 'token-process.ts')],
  outfile: script,
  bundle: true,
  platform: 'node',
  format: 'esm',
  logLevel: 'error',
})

/** A token endpoint that gives nobody anything before all are there, and each caller another token, not at once. */
async function startIssuer(callers: number, secret: string) {
  const ready: ServerResponse[] = []
  let issued = 0
  const server = createServer((request, response) => {
    if (request.url === '/token') return void setTimeout(() => response.end(`${secret}${++issued}`), 200)
    ready.push(response)
    if (ready.length === callers) for (const one of ready) one.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    server.close()
    server.closeAllConnections()
  }
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, issued: () => issued, close }
}

/** Starts a process that keeps the lock; resolves when it has it. */
async function holder(folder: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [script, 'hold', folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  expect(String(await once(child.stdout, 'data'))).toBe('held\n')
  return child
}

describe('processes that share a store', () => {
  it('processes that share a store make one token request between them, twenty-four starting cold', async () => {
    const [callers, secret, folder] = [24, canary('shared'), join(base, 'cold')]
    const issuer = await startIssuer(callers, secret.value)
    const runs = Array.from({ length: callers }, () => execute(process.execPath, [script, 'token', folder, issuer.origin]))
    const outputs = await Promise.all(runs).finally(issuer.close)
    expect(new Set(outputs.map(({ stdout }) => stdout.trim()))).toEqual(new Set([`${secret.value}1`]))
    expect(issuer.issued()).toBe(1)
    // The secret is in the one file, and what remains of the locks is nothing.
    expect(await readdir(folder)).toEqual([`${KEY}.json`])
    expect(leaks([secret], { stderr: outputs.map(({ stderr }) => stderr).join('') })).toEqual([])
  })

  // The nightly run sets the number: more processes than a small machine can start at once.
  const many = Number(process.env.TOKEN_PROCESSES ?? 12)
  it(`${many} processes that wait take the token that is stored, though its lock is never released`, async () => {
    const folder = join(base, 'stuck')
    const child = await holder(folder)
    const waiting = Array.from({ length: many }, () =>
      spawn(process.execPath, [script, 'wait', folder], { stdio: ['ignore', 'pipe', 'pipe'] }),
    )
    const outputs = waiting.map(({ stdout, stderr }) => Promise.all([text(stdout), text(stderr)]))
    await Promise.all(waiting.map(({ stdout }) => once(stdout, 'data')))
    child.kill('SIGSTOP')
    await tokenFiles({ folder }).write(KEY, 'the token')
    expect(await Promise.all(outputs)).toEqual(Array(many).fill(['waiting\nthe token\n', '']))
    expect(await readdir(folder)).toEqual([`${KEY}.json`, `${KEY}.lock`])
    child.kill('SIGKILL')
  })

  it('processes that share a store do not wait for one that was killed', async () => {
    const folder = join(base, 'killed')
    const child = await holder(folder)
    let entered = 0
    const waiting = [1, 2, 3].map(() => tokenFiles({ folder }).exclusively(KEY, async () => ++entered))
    expect(await readFile(join(folder, `${KEY}.lock`), 'utf8')).toContain(`"pid":${child.pid}`)
    expect(entered).toBe(0)
    child.kill('SIGKILL')
    expect((await Promise.all(waiting)).sort()).toEqual([1, 2, 3])
    expect(await readdir(folder)).toEqual([])
  })

  it('processes that share a store keep the old file when the disk is full, and continue in memory', async () => {
    const folder = join(base, 'full')
    await tokenFiles({ folder }).write(KEY, 'old')
    // Files may have 64 KiB: a write stops in the middle, as on a full disk.
    const command = `ulimit -f 64; exec "$0" "$1" write "$2" 200000`
    const { stdout, stderr } = await execute('bash', ['-c', command, process.execPath, script, folder])
    expect(stdout.trim()).toBe('n'.repeat(200_000))
    expect(JSON.parse(stderr)).toMatchObject({ code: 'CACHE_MEMORY_ONLY' })
    expect(await tokenFiles({ folder }).read(KEY)).toBe('old')
    expect(await readdir(folder)).toEqual([`${KEY}.json`])
  })
})
