import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { catalog, clean, dangling, json, link } from '../cli/crawl/catalogs.ts'
import { put, temporaryFolder } from '../cli/folder.ts'
import { itemWith } from '../cli/items.ts'
import { body, serve } from '../cli/server.ts'
import { type Peer, startPeer } from './peer.ts'
import { type RedisFacts, redisQueue } from './redis-facts.ts'

const BIN = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url))
const folder = await temporaryFolder()
const workers: ChildProcess[] = []
let peer: Peer<RedisFacts> | undefined
let redis: RedisFacts
let place: string

beforeAll(async () => {
  peer = await startPeer<RedisFacts>('redis')
  if (!('facts' in peer)) return
  redis = peer.facts
  place = `${redis.host}:${redis.port}`
}, 150_000)
afterAll(async () => {
  if (peer && 'stop' in peer) await peer.stop()
})
beforeEach(({ skip }) => {
  if (peer && 'missing' in peer) skip(peer.missing)
})
afterEach(async () => {
  for (const worker of workers.splice(0)) {
    if (worker.exitCode === null && worker.signalCode === null) {
      worker.kill('SIGKILL')
      await once(worker, 'exit')
    }
  }
})

const address = () => `redis://:${encodeURIComponent(redis.password)}@${place}`
const environment = (more: object = {}) => ({ PATH: process.env.PATH, HOME: folder, STAC_AUTH_QUEUE: address(), ...more })

/** Runs the built command line. */
function cli(argv: readonly string[], env: object = {}) {
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [BIN, ...argv], { env: environment(env), maxBuffer: 1e8 }, (error, stdout, stderr) =>
      resolve({ code: error ? error.code : 0, stdout, stderr }),
    )
  })
}

/** A worker that has said that it takes jobs. */
async function startWorker(argv: readonly string[] = [], env: object = {}): Promise<ChildProcess> {
  const worker = spawn(process.execPath, [BIN, 'queue', 'work', ...argv], { env: environment(env), stdio: ['ignore', 'ignore', 'pipe'] })
  workers.push(worker)
  const [text] = await once(worker.stderr as NonNullable<ChildProcess['stderr']>, 'data')
  expect(String(text)).toMatch(new RegExp(`^waiting for (jobs|downloads) from redis://${place}\n`))
  return worker
}

const withQueue = <T>(use: (queue: Queue) => Promise<T>) => redisQueue(redis, use)
const scheme = (name: string) => ({ key: { type: 'apiKey', name, in: 'header' } })
const item = (id: string, name = 'x-api-key', refs = ['key']) => ({
  ...itemWith({ data: { href: 'https://d.example/', 'auth:refs': refs } }, { schemes: scheme(name) }),
  id,
})

/** The commands that connect to the queue. */
const commandsOf = (input: string) => [
  ['lint', input, '--queue'],
  ['queue', 'work'],
  ['download', input, '-d', folder, '--queue'],
  ['queue', 'work', '-d', folder],
  ['queue', 'show'],
]

/** Linting it takes a second or more. */
const slow = () => ({
  type: 'FeatureCollection',
  features: Array.from({ length: 15_000 }, (_, index) => item(`f${index}`, `x-${index}`, ['gone', 'key'])),
})

describe('a queue in a real Redis', () => {
  it('returns the report of a local run, byte for byte: files of all kinds, conflicts, fingerprints', async () => {
    const inputs = join(folder, 'inputs')
    await mkdir(inputs)
    for (let index = 0; index < 150; index++)
      await put(inputs, `i${index}.json`, item(`i${index}`, index % 40 ? 'x' : `y${index}`, index % 3 ? ['key'] : ['kye']))
    await put(inputs, 'lines.ndjson', [item('l0'), '{', item('l2', 'z', ['gone'])].map((line) => `${JSON.stringify(line)}\n`).join(''))
    await put(inputs, 'list.json', { type: 'FeatureCollection', features: [item('f0', 'q'), item('f1', 'r', ['gone'])] })
    await put(inputs, 'latin.json', new Uint8Array([0x7b, 0x22, 0xe4, 0x22, 0x7d]))
    await startWorker()
    await startWorker(['--concurrency', '3'])
    const sarif = (name: string) => ['--format', 'json', '--format', `sarif=${join(folder, name)}`]
    const here = await cli(['lint', inputs, ...sarif('here')])
    const there = await cli(['lint', inputs, ...sarif('there'), '--queue'])
    expect(there).toEqual(here)
    expect(here.code).toBe(1)
    expect(here.stdout.match(/conflicting-scheme/g)?.length).toBeGreaterThan(4)
    expect(await withQueue((queue) => queue.getJobCounts())).toMatchObject({ waiting: 0, active: 0, completed: 0, failed: 0 })
  })

  it('returns the report of a local crawl', async () => {
    const links = Array.from({ length: 30 }, (_, index) => link('item', `i${index}`))
    const server = await serve({
      '/': json(catalog(...links)),
      ...Object.fromEntries(links.map((_, index) => [`/i${index}`, json({ ...(index % 4 ? clean : dangling), id: `i${index}` })])),
    })
    await startWorker()
    const argv = ['lint', '--crawl', server.origin, '--format', 'json']
    const here = await cli(argv)
    expect(await cli([...argv, '--queue'])).toEqual(here)
    expect(JSON.parse(here.stdout).summary).toMatchObject({ documents: 31, errors: 8 })
  })

  it('does again what a killed worker had begun', async () => {
    const input = await put(folder, 'slow.json', slow())
    const here = cli(['lint', input, '--format', 'json'])
    const first = await startWorker()
    const there = cli(['lint', input, '--format', 'json', '--queue'])
    await withQueue(async (queue) => {
      await expect.poll(() => queue.getActiveCount(), { timeout: 60_000, interval: 10 }).toBe(1)
      first.kill('SIGKILL')
      await once(first, 'exit')
      expect(await queue.getActiveCount()).toBe(1)
    })
    await startWorker()
    expect(await there).toEqual(await here)
  }, 240_000)

  it('loses nothing when a worker is stopped: it finishes its job and ends with 143', async () => {
    const input = await put(folder, 'slow.json', slow())
    const worker = await startWorker()
    const there = cli(['lint', input, '--format', 'json', '--queue'])
    await withQueue((queue) => expect.poll(() => queue.getActiveCount(), { timeout: 60_000, interval: 10 }).toBe(1))
    worker.kill('SIGTERM')
    expect(await once(worker, 'exit')).toEqual([143, null])
    expect(JSON.parse((await there).stdout).summary).toMatchObject({ documents: 15_000 })
  }, 240_000)

  it('gives a worker nothing to obey: what is no job fails, and the next one is done', async () => {
    const worker = await startWorker()
    const input = await put(folder, 'one.json', item('one', 'x', ['gone']))
    await withQueue(async (queue) => {
      const jobs = [
        { preset: 'recommended', fingerprints: false, levels: [{}], tasks: [{ document: '/etc/passwd', levels: 4 }] },
        'x',
        [[]],
        null,
      ]
      for (const data of jobs) await queue.add('lint', data, { attempts: 1 })
      await expect.poll(() => queue.getFailedCount(), { timeout: 60_000 }).toBe(jobs.length)
      await queue.obliterate({ force: true })
    })
    expect((await cli(['lint', input, '--queue'])).code).toBe(1)
    expect(worker.exitCode).toBe(null)
  })

  it('believes nothing that a worker answers before it is checked', async () => {
    const connection = new Redis({ ...redis, maxRetriesPerRequest: null })
    const liar = new Worker('lint-v1', async () => [{ problems: [{ rule: 'x', message: '\u001b[2J' }], definitions: [] }], {
      prefix: 'stac-auth',
      connection,
    })
    try {
      const { code, stdout, stderr } = await cli(['lint', await put(folder, 'one.json', item('one')), '--queue'])
      expect([code, stderr]).toEqual([5, expect.stringContaining('JOB_FAILED')])
      expect(stdout + stderr).not.toContain('\u001b[2J')
    } finally {
      await liar.close()
      connection.disconnect()
    }
  })
})

/** The rights that the message of a refused user names. */
const RIGHTS = ['~stac-auth:*', '+@read', '+@write', '+@scripting', '+@connection', '+@transaction', '+info', '+time']

/** Sends a command as the administrator of the server. */
async function asAdministrator<T>(use: (admin: Redis) => Promise<T>): Promise<T> {
  const admin = new Redis({ ...redis })
  try {
    return await use(admin)
  } finally {
    admin.disconnect()
  }
}

/** Creates a user with these rights, and returns the variable of its queue. */
async function userWith(rights: readonly string[]) {
  await asAdministrator((admin) => admin.acl('SETUSER', 'limited', 'reset', 'on', '>l1mited', ...rights))
  return { STAC_AUTH_QUEUE: `redis://limited:l1mited@${place}` }
}

describe('a user of the access control list of Redis', () => {
  it('may lint and download with the rights that the message names, and no other', async () => {
    const env = await userWith(RIGHTS)
    const server = await serve({ '/file': body('content') })
    const data = join(folder, 'limited')
    const input = await put(folder, 'limited.json', { ...itemWith({ data: { href: `${server.origin}file` } }), id: 'limited' })
    await mkdir(data)
    await startWorker([], env)
    await startWorker(['-d', data, server.origin], env)
    expect(await cli(['lint', input, '--queue'], env)).toEqual({ code: 0, stdout: expect.any(String), stderr: '' })
    const downloaded = await cli(['download', input, '-d', data, '--queue', '--rate', '10'], env)
    expect(downloaded).toEqual({ code: 0, stdout: expect.stringMatching(/^written +1 /), stderr: '' })
    expect(await cli(['queue', 'show', '-d', data], env)).toMatchObject({ code: 0, stderr: '' })
  })

  const withoutRight = async (right: string, commands: readonly (readonly string[])[]) => {
    const env = await userWith(RIGHTS.filter((other) => other !== right))
    for (const argv of commands) {
      const { code, stdout, stderr } = await cli(argv, env)
      expect([code, stdout, stderr]).toEqual([3, '', expect.stringContaining(`AUTH_REJECTED: redis://${place}: this user may not`)])
      expect(stderr).toContain(`must allow this user ${RIGHTS.join(' ')}`)
      expect(stderr).not.toContain('l1mited')
    }
  }

  it.each(RIGHTS)('is refused at once without %s, and told all rights that are needed', (right) => withoutRight(right, [['queue', 'work']]))

  it('is refused by each command', async () => {
    await withoutRight('+info', commandsOf(await put(folder, 'one.json', item('one'))))
  })

  it('learns that the server is full, of the queue and not of the file', async () => {
    const server = await serve({ '/file': body('content') })
    const data = join(folder, 'full')
    const input = await put(folder, 'full.json', { ...itemWith({ data: { href: `${server.origin}file` } }), id: 'full' })
    await mkdir(data)
    await asAdministrator((admin) => admin.config('SET', 'maxmemory', '1'))
    try {
      for (const argv of [
        ['lint', input, '--queue'],
        ['download', input, '-d', data, '--queue'],
      ]) {
        const { code, stderr } = await cli(argv)
        expect([code, stderr]).toEqual([5, expect.stringContaining(`redis://${place}: it refuses writes: it is full`)])
      }
    } finally {
      await asAdministrator((admin) => admin.config('SET', 'maxmemory', '0'))
    }
  })
})

describe('a queue that cannot be reached', () => {
  it.each([
    ['with a wrong password', () => `redis://:wr0ng@${place}`, 3, 'AUTH_REJECTED'],
    ['with an unknown user', () => `redis://nobody:wr0ng@${place}`, 3, 'AUTH_REJECTED'],
    ['without a password', () => `redis://${place}`, 3, 'AUTH_REJECTED'],
    ['where nothing listens', () => 'redis://:wr0ng@127.0.0.1:1', 5, 'NETWORK_REFUSED'],
    ['in a database that there is not', () => `${address()}/99`, 2, 'USAGE'],
    ['at no address', () => 'wr0ng', 2, 'USAGE'],
  ])('%s is told at once, and no password', async (_, queue, exit, code) => {
    const input = await put(folder, 'one.json', item('one'))
    for (const argv of commandsOf(input)) {
      const outcome = await cli(argv, { STAC_AUTH_QUEUE: queue() })
      expect([outcome.code, outcome.stderr]).toEqual([exit, expect.stringContaining(code)])
      expect(outcome.stdout + outcome.stderr).not.toMatch(/wr0ng(?!")/)
      expect(outcome.stdout + outcome.stderr).not.toContain(redis.password)
    }
  })

  it('a password in the URL of an unreachable queue is advised against and not repeated', async () => {
    await startWorker()
    const { code, stderr, stdout } = await cli(['lint', await put(folder, 'one.json', item('one')), `--queue=${address()}`])
    expect([code, stderr]).toEqual([0, expect.stringContaining('STAC_AUTH_QUEUE')])
    expect(stdout + stderr).not.toContain(redis.password)
    expect(stdout + stderr).not.toContain(encodeURIComponent(redis.password))
  })

  it('ends workers when it has been away for half a minute', async () => {
    const worker = await startWorker()
    if (peer && 'stop' in peer) await peer.stop()
    expect(await once(worker, 'exit')).toEqual([5, null])
  }, 240_000)
})
