/** `fetch` and `download` of files that must be ordered first: they order once, wait, and say what they wait for. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ecmwfCds, planet } from '../../src/providers/index.ts'
import { script } from '../harness/scripted.ts'
import { createArchives, SECRET } from '../servers/archives.ts'
import type { OrderArchiveOptions } from '../servers/order-archives.ts'
import { put, temporaryFolder } from './folder.ts'
import { itemWith } from './items.ts'
import { run, type Surroundings } from './run.ts'

/** The hosts of the archives, in place of the network. */
const network = vi.hoisted(() => ({ send: undefined as unknown }))
vi.mock('../../src/cli/request-log.ts', () => ({ loggedTransport: async () => ({ transport: network.send }) }))

let archives: ReturnType<typeof createArchives>
let cache: string
let requests: readonly { readonly url: string }[]
function start(options: OrderArchiveOptions = {}) {
  archives = createArchives({ retryAfter: '0', ...options })
  const wire = script(({ method, url, headers, body }) => {
    const answer = archives.answer({ method, url, headers, body: String(body ?? '') })
    if (!answer) throw new Error(`nobody is at ${url}`)
    return answer
  })
  requests = wire.sent
  network.send = async (...given: Parameters<typeof wire.send>) => {
    const response = await wire.send(...given)
    return {
      ...response,
      async *chunks() {
        yield await response.bytes(100_000)
      },
    }
  }
}
beforeEach(async () => {
  vi.stubEnv('KEY_OF_ORDERS', SECRET)
  start()
  cache = await temporaryFolder()
})
afterEach(() => {
  vi.unstubAllEnvs()
})

const CDS = `https://cds.climate.copernicus.eu/api/retrieve/v1/processes/era5/execution?${encodeURIComponent('{"inputs":{"year":"2024"}}')}`
const ASSET = 'https://api.planet.com/data/v1/assets/eyJpIjogIjIwMTYw'
const KEY = { env: 'KEY_OF_ORDERS' }
const folder = await temporaryFolder()
const credentials = await put(folder, 'credentials.json', {
  version: 1,
  credentials: [...ecmwfCds({ apiKey: KEY }), ...planet({ apiKey: KEY })],
})
const era5 = await put(folder, 'era5.json', itemWith({ data: { href: CDS } }))
const scene = await put(folder, 'scene.json', itemWith({ data: { href: ASSET }, more: { href: `${ASSET}2` } }))
const lastState = () => requests.filter(({ url }) => /jobs\/job-1$/.test(url)).length

const command = (argv: readonly string[], around: Surroundings = {}) =>
  run([...argv, '--credentials', credentials], { ...around, env: { XDG_CACHE_HOME: cache, ...around.env } })
const download = async (document: string, options: readonly string[] = [], around: Surroundings = {}) => {
  const into = await temporaryFolder()
  return { into, ...(await command(['download', document, '-d', into, ...options], around)) }
}

describe('fetch', () => {
  it('orders a file, waits for it, and says so', async () => {
    const { code, stdout, stderr } = await command(['fetch', era5, '--asset', 'data'])
    expect([code, stdout]).toEqual([0, 'file'])
    expect(stderr).toContain('Copernicus Climate Data Store is preparing the file that was ordered; it is requested again in ')
    expect(stderr).toContain('("running"); it is requested again in ')
    expect([archives.orders.length, archives.violations]).toEqual([1, []])
  })

  it('interrupted while it waits, and run again, has ordered once', async () => {
    start({ polls: 3 })
    const interruption = new AbortController()
    const onError = (text: string) => {
      if (text.includes('("running")')) interruption.abort('SIGINT')
    }
    expect((await command(['fetch', era5, '--asset', 'data'], { signal: interruption.signal, onError })).code).toBe(130)
    expect(await command(['fetch', era5, '--asset', 'data'])).toMatchObject({ code: 0, stdout: 'file' })
    expect([archives.orders.length, archives.violations]).toEqual([1, []])
  })

  it('ends after --wait, and the next run continues', async () => {
    start({ polls: 1, retryAfter: '31536000' })
    const { code, stderr } = await command(['fetch', era5, '--asset', 'data', '--wait', '3'])
    expect(code).toBe(5)
    expect(stderr).toContain('HTTP_202')
    expect(stderr).toContain('Retry-After of 31536000 s exceeds the limit of 3 s')
    expect(lastState()).toBe(1)
    expect(await command(['fetch', era5, '--asset', 'data'])).toMatchObject({ code: 0, stdout: 'file' })
    expect(archives.orders).toHaveLength(1)
  })

  it('with --no-order sends nothing and names the reason', async () => {
    const { code, stderr } = await command(['fetch', era5, '--asset', 'data', '--no-order'])
    expect([code, requests]).toEqual([2, []])
    expect(stderr).toContain('error ORDER_REQUIRED')
    expect(stderr).toContain('must be ordered from Copernicus Climate Data Store first')
  })

  it('says why an order failed', async () => {
    start({ fails: true })
    const { code, stderr } = await command(['fetch', era5, '--asset', 'data'])
    expect(code).toBe(5)
    expect(stderr).toContain('error ORDER_FAILED: Copernicus Climate Data Store did not prepare')
  })

  it('orders what costs something only with --yes', async () => {
    const refused = await command(['fetch', scene, '--asset', 'data'])
    expect([refused.code, archives.orders]).toEqual([2, []])
    expect(refused.stderr).toContain('counts against the quota of your account')
    expect(refused.stderr).toContain('run the same command with --yes')
    expect(await command(['fetch', scene, '--asset', 'data', '--yes'])).toMatchObject({ code: 0, stdout: 'file' })
    expect(archives.orders).toHaveLength(1)
  })
})

describe('download', () => {
  it('orders a file, waits for it, and reports it once', async () => {
    const { code, stdout, stderr, into } = await download(era5)
    expect(stderr).toContain('is preparing the file that was ordered; it is requested again until it is ready')
    expect([code, stdout]).toEqual([0, expect.stringContaining('written')])
    expect(await readFile(join(into, 'x/execution'), 'utf8')).toBe('file')
    expect([archives.orders.length, archives.violations]).toEqual([1, []])
  })

  it('interrupted while it waits, and run again, has ordered once', async () => {
    start({ polls: 3 })
    const interruption = new AbortController()
    setTimeout(() => interruption.abort('SIGINT'), 500)
    expect((await download(era5, [], { signal: interruption.signal })).code).toBe(130)
    expect(archives.orders).toHaveLength(1)
    expect((await download(era5)).code).toBe(0)
    expect([archives.orders.length, archives.violations]).toEqual([1, []])
  })

  it('two at once order once', async () => {
    const both = await Promise.all([download(era5), download(era5)])
    expect(both.map(({ code }) => code)).toEqual([0, 0])
    expect([archives.orders.length, archives.violations]).toEqual([1, []])
  })

  it('with --no-order fails for files that must be ordered', async () => {
    const { code, stderr } = await download(era5, ['--no-order'])
    expect([code, archives.orders]).toEqual([2, []])
    expect(stderr).toContain('ORDER_REQUIRED')
  })

  it('asks once at a terminal about what costs something', async () => {
    const stdin = new PassThrough()
    const questions: string[] = []
    const onError = (text: string) => {
      if (!text.includes('[y]es')) return
      questions.push(text)
      stdin.write('y\n')
    }
    const { code } = await download(scene, [], { stdin, isTTY: true, onError })
    expect(questions).toEqual([
      'Planet: an asset that is activated and then downloaded counts against the quota of your account. Order the files of this command?  [y]es / [N]o ',
    ])
    expect([code, archives.orders.length, archives.violations]).toEqual([0, 2, []])
  })

  it('orders nothing after another answer', async () => {
    const stdin = new PassThrough()
    const onError = (text: string) => void (text.includes('[y]es') && stdin.write('\n'))
    const { code } = await download(scene, [], { stdin, isTTY: true, onError })
    expect([code, archives.orders]).toEqual([2, []])
  })

  it('with --json asks nothing, and has the reason in the event', async () => {
    const { code, stdout } = await download(scene, ['--json'], { isTTY: true })
    expect([code, archives.orders]).toEqual([2, []])
    expect(stdout).toContain('"code":"ORDER_REQUIRED"')
  })
})
