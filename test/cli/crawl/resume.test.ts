import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, readFile, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../folder.ts'
import { itemWith } from '../items.ts'
import { lastError, run } from '../run.ts'
import { type Answer, serve } from '../server.ts'

const folder = await temporaryFolder()
const [BIN = '', PROGRAM = ''] = ['src/cli/bin.ts', 'dist/cli/bin.js'].map((path) =>
  fileURLToPath(new URL(`../../../${path}`, import.meta.url)),
)

/** A catalog of items, some of which are broken or missing; each answer is held back until it is let go. */
async function slowCatalog(count: number) {
  const held: (() => void)[] = []
  let isOpen = false
  const answered =
    (value: unknown, headers = {}): Answer =>
    (_request, response) => {
      const answer = () => response.writeHead(200, headers).end(JSON.stringify(value))
      if (isOpen) answer()
      else held.push(answer)
    }
  const links = Array.from({ length: count }, (_, index) => ({ rel: 'item', href: `/${index}` }))
  const refs = (index: number) => ({ data: { href: 'https://data.example/f', 'auth:refs': index % 3 ? ['key'] : ['gone'] } })
  const catalog = {
    type: 'Catalog',
    stac_version: '1.1.0',
    id: 'c',
    description: 'c',
    links: [...links, { rel: 'item', href: '/missing' }],
  }
  const etag = (index: number) => ({ etag: `"${index}"` })
  const server = await serve({
    '/': answered(catalog),
    ...Object.fromEntries(
      links.map(({ href }, index) => [
        href,
        (request, response) =>
          request.headers['if-none-match'] === `"${index}"`
            ? response.writeHead(304).end()
            : answered(itemWith(refs(index)), etag(index))(request, response),
      ]),
    ),
  } as Record<string, Answer>)
  return {
    server,
    /** Lets so many answers go. */
    release: (some: number) => {
      for (const answer of held.splice(0, some)) answer()
    },
    waiting: () => held.length,
    open: () => {
      isOpen = true
      for (const answer of held.splice(0)) answer()
    },
  }
}

const argv = (...more: string[]) => ['lint', '--crawl', '--format', 'json', ...more]
const started: ChildProcess[] = []

describe('a crawl that was killed', () => {
  it('continues where it was, asks nothing twice that was done, and reports what one run reports', async () => {
    const { server, release, waiting, open } = await slowCatalog(60)
    const state = join(folder, 'killed.state')
    const child = spawn(process.execPath, [PROGRAM, ...argv(server.origin, '--resume', state)], { stdio: 'ignore' })
    started.push(child)
    await expect.poll(waiting).toBe(1)
    release(1)
    for (let round = 0; round < 3; round++) {
      await expect.poll(waiting).toBe(8)
      release(8)
    }
    await expect.poll(waiting).toBe(8)
    await expect.poll(async () => (await readFile(state, 'utf8')).split('\n').length - 2).toBeGreaterThan(20)
    child.kill('SIGKILL')
    await once(child, 'exit')
    await appendFile(state, '{"key":"GET half a li')
    open()
    const before = server.requests.length
    const resumed = await run(argv(server.origin, '--resume', state))
    expect(server.requests.length - before).toBeLessThan(62 - 20)
    const whole = await run(argv(server.origin))
    expect([resumed.code, JSON.parse(resumed.stdout)]).toEqual([whole.code, JSON.parse(whole.stdout)])
    expect([whole.code, JSON.parse(whole.stdout).summary]).toMatchObject([
      5,
      { documents: 61, errors: 21, incomplete: [{ code: 'HTTP_404' }] },
    ])
  })

  it.each([0.2, 0.5, 0.9])('a crawl that was killed may have been stopped in the middle of a line: at %f of its state', async (part) => {
    const { server, open } = await slowCatalog(20)
    open()
    const state = join(folder, `cut-${part}.state`)
    const whole = await run(argv(server.origin, '--resume', state))
    const { size } = await stat(state)
    await truncate(state, Math.floor(size * part))
    expect((await run(argv(server.origin, '--resume', state))).stdout).toBe(whole.stdout)
    expect((await readFile(state, 'utf8')).split('\n').length).toBe(1 + 22 + 1 + 1)
  })
})

describe('the state of a crawl', () => {
  it('the state of a crawl that is complete makes the next one read only what has changed', async () => {
    const { server, open } = await slowCatalog(10)
    open()
    const state = join(folder, 'again.state')
    const reports = []
    for (let round = 0; round < 4; round++) reports.push((await run(argv(server.origin, '--resume', state))).stdout)
    expect(new Set(reports).size).toBe(1)
    const lines = (await readFile(state, 'utf8')).split('\n').length
    // The last two runs, for the one before is what the next one is compared with.
    expect(lines).toBe(2 * 14 + 1)
    expect((await stat(state)).mode & 0o777).toBe(0o600)
  })

  it.runIf(process.platform !== 'win32')(
    'the state of a crawl that cannot be written ends the crawl, and what there is so far is reported',
    async () => {
      const { server, open } = await slowCatalog(40)
      open()
      const state = join(folder, 'full.state')
      const limited = 'ulimit -f 8; exec "$0" "$@"'
      const child = spawn('bash', ['-c', limited, process.execPath, PROGRAM, ...argv(server.origin, '--resume', state)])
      started.push(child)
      const out: string[] = []
      const told: string[] = []
      child.stdout.on('data', (chunk) => out.push(String(chunk)))
      child.stderr.on('data', (chunk) => told.push(String(chunk)))
      const [code] = await once(child, 'close')
      expect([code, JSON.parse(told.join('').trim().split('\n').at(-1) ?? '').code]).toEqual([6, 'FILE_ACCESS'])
      expect(JSON.parse(out.join('')).summary.incomplete).toContainEqual({
        url: server.origin,
        code: 'FILE_ACCESS',
        message: expect.stringContaining('cannot write'),
      })
      const resumed = await run(argv(server.origin, '--resume', state))
      expect(resumed.stdout).toBe((await run(argv(server.origin))).stdout)
    },
  )

  it('the state of a crawl of another crawl, or of none, is refused', async () => {
    const { server, open } = await slowCatalog(1)
    open()
    const state = join(folder, 'other.state')
    await run(argv(server.origin, '--resume', state))
    const other = await run(argv(server.origin, '--resume', state, '--preset', 'strict'))
    expect([other.code, lastError(other).code, lastError(other).hint]).toEqual([2, 'USAGE', expect.stringContaining('another file')])
    expect((await run(argv(server.origin, '--resume', state, '--rate', '1000'))).code).toBe(5)
    expect((await run(argv(server.origin, '--resume', BIN))).code).toBe(2)
    expect((await run(argv(server.origin, '--resume', folder))).code).toBe(6)
    expect((await readFile(BIN, 'utf8')).startsWith('#!')).toBe(true)
  })
})
