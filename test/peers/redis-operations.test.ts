import { spawnSync } from 'node:child_process'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { openDestination } from '../../src/node/download/destination/destination.ts'
import { identityOf } from '../../src/node/queue/destination.ts'
import { BIN, ended, type FileGroup, QueueLoad } from '../load/queue/queue-load.ts'
import { useRedisAndArchive } from './redis-archive.ts'

const KIB = 1024
const MIB = 2 ** 20
const used = await useRedisAndArchive()

let made = 0
/** Runs a test with a folder for downloads, and ends its workers. */
async function withLoad(groups: readonly FileGroup[], test: (load: QueueLoad, data: string) => Promise<void>): Promise<void> {
  const place = join(used.folder, `operations${++made}`)
  const data = join(place, 'data')
  await mkdir(data, { recursive: true })
  const load = await QueueLoad.prepare(place, used.archive, used.redis.url, groups)
  try {
    await test(load, data)
  } finally {
    await load.stop()
  }
}

async function withQueue<T>(data: string, use: (queue: Queue, client: Redis, identity: string) => Promise<T>): Promise<T> {
  const identity = await identityOf(await openDestination(data))
  const connection = connect()
  const queue = new Queue(`download-v1-${identity}`, { prefix: 'stac-auth', connection })
  try {
    return await use(queue, connection, identity)
  } finally {
    await queue.close()
    connection.disconnect()
  }
}

const connect = (connectionName?: string) =>
  new Redis({
    host: '127.0.0.1',
    port: used.redis.port,
    password: used.redis.password,
    maxRetriesPerRequest: null,
    ...(connectionName && { connectionName }),
  })

const parsedLines = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

describe('who runs a queue', () => {
  it('sees each worker with its host, version and jobs, until it ends or is killed', () =>
    withLoad([{ count: 1, size: KIB }], async (load, data) => {
      const workers = async () => (await load.run('queue', 'workers', '-d', data, '--json')).split('\n').filter(Boolean)
      await identityOf(await openDestination(data))
      expect(await workers()).toEqual([])
      const [first, second] = [await load.startWorker('data'), await load.startWorker('data')]
      const version = (await load.run('--version')).trim()
      const found = (await workers()).map((line) => JSON.parse(line))
      expect(found.map(({ pid }) => pid).sort()).toEqual([first.pid, second.pid].sort())
      expect(found[0]).toMatchObject({ id: expect.any(String), version, running: 0, done: 0, failed: 0, since: expect.any(String) })
      expect(await load.run('queue', 'workers', '-d', data)).toMatch(/^id +host +process +version +since +running +done +failed\n/)
      expect(JSON.parse(await load.run('queue', 'status', '-d', data, '--json'))).toMatchObject({ workers: 2, versions: { [version]: 2 } })
      await ended(first, 'SIGKILL')
      await expect.poll(async () => (await workers()).length, { timeout: 10_000 }).toBe(1)
      await ended(second, 'SIGTERM')
      expect(await workers()).toEqual([])
    }))

  it(
    'is told within seconds which worker is missing, and how to start it',
    () =>
      withLoad([{ count: 1, size: KIB }], async (load, data) => {
        await identityOf(await openDestination(data))
        const download = load.download('data', '--queue')
        expect(await load.run('queue', 'workers', '-d', data)).toBe(`no worker; start one: stac-auth queue work -d ${data}\n`)
        const show = async () => JSON.parse(await load.run('queue', 'show', '-d', data, '--json'))
        await expect.poll(show, { timeout: 20_000 }).toMatchObject({
          workers: 0,
          waiting: 1,
          downloads: [{ total: 1, isComplete: true, done: 0, failed: 0, filesPerSecond: 0, bytesPerSecond: 0 }],
        })
        const before = Date.now()
        await new Promise((resolve) => setTimeout(resolve, 3000))
        await load.startWorker('data')
        const { code, stderr } = await download
        expect([code, Date.now() - before < 50_000]).toEqual([0, true])
        expect(stderr).toBe(
          `warning TIMEOUT_QUEUE: ${used.redis.url.replace(/:[^/]*@/, '')}: no worker takes these jobs\n  start one: stac-auth queue work -d ${data}\n`,
        )
      }),
    90_000,
  )

  it(
    'is told that the workers are of another version, which is not the same as no worker',
    () =>
      withLoad([{ count: 1, size: KIB }], async (load, data) => {
        await withQueue(data, async (_queue, client, identity) => {
          const other = connect('x:w:0123abcd')
          await other.ping()
          const worker = {
            id: '0123abcd',
            host: 'h',
            pid: 7,
            version: '9.9.9',
            queue: `download-v9-${identity}`,
            since: '2026',
            running: 0,
            done: 0,
            failed: 0,
          }
          await client.hset(`stac-auth:processes:download-${identity}`, '0123abcd', `${Date.now()}:${JSON.stringify(worker)}`)
          const download = load.download('data', '--queue', '--json')
          const show = async () => JSON.parse(await load.run('queue', 'show', '-d', data, '--json'))
          await expect.poll(show, { timeout: 20_000 }).toMatchObject({ workers: 0, incompatible: { '9.9.9': 1 }, waiting: 1 })
          expect(await load.run('queue', 'show', '-d', data)).toContain('  1 worker (9.9.9) of another version cannot run these jobs\n')
          await new Promise((resolve) => setTimeout(resolve, 3000))
          await load.startWorker('data')
          const { code, stderr } = await download
          other.disconnect()
          expect(code).toBe(0)
          expect(JSON.parse(stderr)).toMatchObject({
            severity: 'warn',
            code: 'TIMEOUT_QUEUE',
            message: expect.stringContaining('the workers run stac-auth 9.9.9'),
          })
        })
      }),
    90_000,
  )

  it(
    'gives failed files to the workers again',
    () =>
      withLoad([{ count: 12, size: KIB }], async (load, data) => {
        await mkdir(join(data, 's1024-0', 'f3.h5'), { recursive: true })
        await load.startWorker('data')
        expect((await load.download('data', '--queue')).code).not.toBe(0)
        const failed = async () => (await load.run('queue', 'failed', '-d', data, '--json')).trim()
        expect(parsedLines(await load.run('queue', 'retry', '-d', data, '--json')).map(({ kind }) => kind)).toEqual(['planned', 'failed'])
        expect(JSON.parse(await failed())).toMatchObject({ name: 's1024-0/f3.h5', code: 'PATH_UNSAFE' })
        await rm(join(data, 's1024-0', 'f3.h5'), { recursive: true })
        const { requests } = await used.archive.counts()
        expect(await load.run('queue', 'retry', '-d', data)).toMatch(/^written +1 /)
        expect((await used.archive.counts()).requests).toBe(requests + 1)
        expect(await failed()).toBe('')
        expect(await load.run('queue', 'retry', '-d', data)).toBe('')
        // The manifest of the folder has the file, so that the download keeps it.
        expect(await load.download('data', '--queue', '--json')).toMatchObject({
          code: 0,
          stdout: expect.stringContaining('"written":0,"kept":12'),
        })
        expect((await used.archive.counts()).requests).toBe(requests + 1)
      }),
    60_000,
  )

  it(
    'drains the queue: the jobs that wait are removed, and the download ends',
    () =>
      withLoad([{ count: 640, size: KIB }], async (load, data) => {
        await load.run('queue', 'pause', '-d', data)
        const download = load.download('data', '--queue')
        const waiting = async () => JSON.parse(await load.run('queue', 'show', '-d', data, '--json')).waiting
        let jobs = 0
        const areAllQueued = async () => {
          const before = jobs
          jobs = await waiting()
          return jobs >= 80 && jobs === before
        }
        await expect.poll(areAllQueued, { timeout: 20_000 }).toBe(true)
        expect(await load.run('queue', 'drain', '-d', data)).toBe('')
        expect(await waiting()).toBe(jobs)
        expect(await load.run('queue', 'drain', '-d', data, '--yes')).toBe(`removed ${jobs} waiting jobs; 0 running jobs to be finished\n`)
        const { code, stderr } = await download
        expect([code, stderr]).toEqual([5, expect.stringContaining('JOB_FAILED: the queue was drained')])
        expect(await waiting()).toBe(0)
        expect(await load.run('queue', 'failed', '-d', data)).toBe('')
        await load.run('queue', 'resume', '-d', data)
        await load.startWorker('data')
        expect(await load.download('data', '--queue')).toMatchObject({ code: 0 })
      }),
    90_000,
  )

  it(
    'sees a job that is not JSON fail with the reason, as one with a wrong member does',
    () =>
      withLoad([{ count: 1, size: KIB }], async (load, data) => {
        await withQueue(data, async (queue, client) => {
          await load.startWorker('data')
          await queue.add('job', {}, { jobId: 'text-x', delay: 500 })
          await queue.add('job', { run: 'r', settings: { stallTimeout: 1e300 } }, { jobId: 'endless-x' })
          await client.hset(`stac-auth:${queue.name}:text-x`, 'data', '{"run":')
          await load.startWorker('data')
          await expect.poll(() => queue.getFailedCount(), { timeout: 8000 }).toBe(2)
          expect(await queue.getActiveCount()).toBe(0)
          const reasonOf = (id: string) => client.hget(`stac-auth:${queue.name}:${id}`, 'failedReason')
          expect(await reasonOf('text-x')).toBe('not a job of stac-auth download')
          expect(await reasonOf('endless-x')).toBe('not a job of stac-auth download: settings.stallTimeout is missing or out of bounds')
        })
      }),
    60_000,
  )

  it(
    'is told the bytes that a killed worker has received, as the least that there were',
    () =>
      withLoad([{ count: 1, size: 64 * MIB }], async (load) => {
        const first = await load.startWorker('data')
        const { bytes } = await used.archive.counts()
        const download = load.download('data', '--queue', '--ranges', '1', '--no-resume', '--json')
        await expect.poll(async () => (await used.archive.counts()).bytes - bytes, { timeout: 15_000 }).toBeGreaterThan(40 * MIB)
        await ended(first, 'SIGKILL')
        await load.startWorker('data')
        const { code, stdout } = await download
        const sent = (await used.archive.counts()).bytes - bytes
        const summary = JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
        expect([code, summary.written, summary.uncounted]).toEqual([0, 1, true])
        expect(summary.received).toBeGreaterThan(64 * MIB)
        expect(summary.received).toBeLessThanOrEqual(sent)
      }),
    90_000,
  )

  it(
    'is warned of a server that drops jobs when its memory is full',
    () =>
      withLoad([{ count: 1, size: KIB }], async (load) => {
        const checks = async () =>
          JSON.parse(await load.run('doctor', '--json')).filter(({ check }: { check: string }) => check === 'queue')
        expect(await checks()).toMatchObject([{ level: 'ok' }])
        const client = connect()
        await client.config('SET', 'maxmemory-policy', 'allkeys-lru')
        try {
          expect(await checks()).toMatchObject([{ level: 'ok' }, { level: 'warning', message: expect.stringContaining('allkeys-lru') }])
          const { stderr } = spawnSync(process.execPath, [BIN, 'queue', 'work'], {
            encoding: 'utf8',
            env: { ...process.env, STAC_AUTH_QUEUE: used.redis.url },
            timeout: 8000,
          })
          const place = used.redis.url.replace(/:[^/]*@/, '')
          expect(stderr.split('\n').slice(0, 3)).toEqual([
            `waiting for jobs from ${place}`,
            `warning CONFIG_INVALID: ${place} drops entries when its memory is full (maxmemory-policy allkeys-lru)`,
            '  set maxmemory-policy noeviction in its configuration',
          ])
        } finally {
          await client.config('SET', 'maxmemory-policy', 'noeviction')
          client.disconnect()
        }
      }),
    60_000,
  )
})
