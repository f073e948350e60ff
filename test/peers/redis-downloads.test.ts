import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { killedWorker } from '../load/queue/killed-worker.ts'
import { QueueLoad, startArchive } from '../load/queue/queue-load.ts'
import { useRedisAndArchive } from './redis-archive.ts'

const KIB = 1024
const MIB = 2 ** 20
const used = await useRedisAndArchive()

let made = 0
async function loadOf(...groups: readonly { readonly count: number; readonly size: number }[]): Promise<QueueLoad> {
  const place = join(used.folder, `load${++made}`)
  await mkdir(place)
  return QueueLoad.prepare(place, used.archive, used.redis.url, groups)
}

async function withQueue<T>(load: QueueLoad, target: string, use: (queue: Queue, client: Redis) => Promise<T>): Promise<T> {
  const { identityOf } = await import('../../src/node/queue/destination.ts')
  const { openDestination } = await import('../../src/node/download/destination/destination.ts')
  const identity = await identityOf(await openDestination(join(load.folder, target)))
  const connection = new Redis({ host: '127.0.0.1', port: used.redis.port, password: used.redis.password, maxRetriesPerRequest: null })
  const queue = new Queue(`download-v1-${identity}`, { prefix: 'stac-auth', connection })
  try {
    return await use(queue, connection)
  } finally {
    await queue.close()
    connection.disconnect()
  }
}

describe('a download by the workers of a queue', () => {
  it('loses no file and no byte when a worker is killed and Redis is killed and started again', async () => {
    const place = await mkdtemp(join(used.folder, 'killed-'))
    const groups = [
      { count: 2, size: 64 * MIB },
      { count: 2000, size: 64 * KIB },
      { count: 50, size: 2 * KIB, isCollected: true },
    ]
    const result = await killedWorker(place, used.archive, used.redis, groups)
    expect(result).toMatchObject({ problems: [], exitCode: 0, differences: [] })
    expect(result.ratio).toBeLessThan(1.15)
    expect(result.memory[1]).toBeLessThan(result.memory[0] * 1.5)
  }, 180_000)

  it('sends no more requests at a time from all workers than --per-host allows', async () => {
    const load = await loadOf({ count: 30, size: 3 * MIB })
    try {
      await load.startWorker('data')
      await load.startWorker('data')
      await used.archive.counts()
      expect(await load.download('data', '--queue', '--per-host', '3')).toMatchObject({ code: 0 })
      const { most } = await used.archive.counts()
      expect(most).toBe(3)
    } finally {
      await load.stop()
    }
  }, 60_000)

  it('does nothing while it is paused, and tells so', async () => {
    const load = await loadOf({ count: 20, size: KIB })
    try {
      const data = join(load.folder, 'data')
      expect(await load.run('queue', 'show', '-d', data)).toBe(
        `running, 0 workers, 0 jobs waiting, 0 active, 0 files failed\n  start a worker: stac-auth queue work -d ${data}\n`,
      )
      await load.startWorker('data')
      const version = (await load.run('--version')).trim()
      const paused = await load.run('queue', 'pause', '-d', data)
      expect(paused).toBe(
        `paused, 1 worker (${version}), 0 jobs waiting, 0 active, 0 files failed\n  resume it: stac-auth queue resume -d ${data}\n`,
      )
      const { requests } = await used.archive.counts()
      const download = load.download('data', '--queue')
      const status = async () => JSON.parse(await load.run('queue', 'show', '-d', data, '--json'))
      await expect.poll(status, { timeout: 15_000 }).toMatchObject({ paused: true, waiting: 3, active: 0 })
      expect((await used.archive.counts()).requests).toBe(requests)
      expect(JSON.parse(await load.run('queue', 'resume', '-d', data, '--json'))).toMatchObject({ paused: false })
      expect(await download).toMatchObject({ code: 0 })
      expect((await used.archive.counts()).requests).toBe(requests + 20)
    } finally {
      await load.stop()
    }
  }, 60_000)

  it('lists failed files with their reasons, and a second run downloads only those', async () => {
    const load = await loadOf({ count: 12, size: KIB })
    try {
      const data = join(load.folder, 'data')
      await mkdir(join(data, 's1024-0'), { recursive: true })
      await mkdir(join(data, 's1024-0', 'f3.h5'))
      await load.startWorker('data')
      expect((await load.download('data', '--queue')).code).not.toBe(0)
      const failed = (await load.run('queue', 'failed', '-d', data, '--json'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(failed).toMatchObject([{ name: 's1024-0/f3.h5', code: 'PATH_UNSAFE', url: `${used.archive.origin}/1024/f3` }])
      const { rm } = await import('node:fs/promises')
      await rm(join(data, 's1024-0', 'f3.h5'), { recursive: true })
      const { requests } = await used.archive.counts()
      expect(await load.download('data', '--queue', '--json')).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('"written":1,"kept":11'),
      })
      expect((await used.archive.counts()).requests).toBe(requests + 1)
      expect(await load.run('queue', 'failed', '-d', data)).toBe('')
    } finally {
      await load.stop()
    }
  }, 60_000)

  it('keeps the part of a large file of a stopped worker, which another one continues', async () => {
    const load = await loadOf({ count: 1, size: 64 * MIB })
    try {
      const first = await load.startWorker('data')
      const { bytes, requests } = await used.archive.counts()
      const download = load.download('data', '--queue', '--ranges', '1')
      await expect.poll(async () => (await used.archive.counts()).bytes - bytes, { timeout: 15_000 }).toBeGreaterThan(20 * MIB)
      first.kill('SIGTERM')
      expect(await once(first, 'exit')).toEqual([143, null])
      const [part = ''] = (await readdir(join(load.folder, 'data'), { recursive: true })).filter((name) => name.endsWith('.part'))
      const { size: kept } = await stat(join(load.folder, 'data', part))
      expect(kept).toBeGreaterThan(MIB)
      await load.startWorker('data')
      expect(await download).toMatchObject({ code: 0 })
      expect(await used.archive.counts()).toMatchObject({ start: kept, requests: requests + 2 })
      expect(await load.problems('data')).toEqual([])
    } finally {
      await load.stop()
    }
  }, 60_000)

  it('writes only in its folder and sends no credential elsewhere, whatever the queue contains', async () => {
    const load = await loadOf({ count: 1, size: KIB })
    const other = await startArchive()
    try {
      const worker = await load.startWorker('data')
      const href = `${used.archive.origin}/1024/f0`
      const schemes = { key: { type: 'apiKey', in: 'header', name: 'x-api-key' } }
      const document = { type: 'Feature', properties: { 'auth:schemes': schemes }, assets: {} }
      const object = (url: string) => ({ href: url, 'auth:refs': ['key'] })
      const target = (url: string) => ({
        kind: 'asset',
        href: url,
        refs: ['key'],
        pointer: '/assets/a',
        object: object(url),
        document: 0,
        at: '',
        parents: [],
      })
      const job = (name: string, url = href) => ({
        run: 'r',
        settings: {},
        lists: false,
        documents: [document],
        files: [{ name, url, key: 'a', targets: [target(url)] }],
      })
      const results = await withQueue(load, 'data', async (queue) => {
        const names = ['../outside', '/etc/x', 'a/../../outside', '.ssh', 'a\\b', 'x.part', '.stac-auth-manifest', '']
        for (const [index, name] of names.entries()) await queue.add('job', job(name), { jobId: `f${index}-x` })
        for (const [index, data] of [null, 'x', {}, { ...job('a'), documents: [] }].entries())
          await queue.add('job', data, { jobId: `m${index}-x` })
        await expect.poll(() => queue.getFailedCount(), { timeout: 15_000 }).toBe(12)
        await queue.add('job', job('a/near', `${other.origin}/1024/f0`), { jobId: 'near-x' })
        await queue.add('job', job('a/far', 'https://far.example/1024/f0'), { jobId: 'far-x' })
        await queue.add('job', job('a/inside'), { jobId: 'inside-x' })
        await expect.poll(() => queue.getCompletedCount(), { timeout: 15_000 }).toBe(3)
        return Promise.all(['near-x', 'far-x', 'inside-x'].map(async (id) => (await queue.getJob(id))?.returnvalue))
      })
      expect(results).toMatchObject([
        [{ kind: 'failed', error: { code: 'URL_INSECURE' } }],
        [{ kind: 'failed', error: { code: 'CREDENTIAL_TARGET_UNTRUSTED' } }],
        [{ kind: 'written', bytes: KIB }],
      ])
      expect((await other.counts()).requests).toBe(0)
      expect((await readdir(load.folder)).filter((name) => name.includes('outside'))).toEqual([])
      const files = (await readdir(join(load.folder, 'data'), { recursive: true })).sort()
      expect(files).toEqual(['.stac-auth-queue', 'a', 'a/inside'])
      expect(worker.exitCode).toBe(null)
    } finally {
      await other.stop()
      await load.stop()
    }
  }, 60_000)

  it('believes no result that a worker of someone else returns before it is checked', async () => {
    const { Worker } = await import('bullmq')
    const load = await loadOf({ count: 1, size: KIB })
    const connection = new Redis({ host: '127.0.0.1', port: used.redis.port, password: used.redis.password, maxRetriesPerRequest: null })
    const data = join(load.folder, 'data')
    await mkdir(data)
    const name = await withQueue(load, 'data', async (queue) => queue.name)
    const entry = { path: '../../x', url: 'https://x.example/', size: 1, sha256: 'a'.repeat(64), time: '' }
    const result = { kind: 'written', attempt: 'w-1', bytes: 1, received: 1, resumable: 0, verified: [], retries: 0, warnings: [] }
    const liar = new Worker(name, async () => [{ ...result, entry }], { prefix: 'stac-auth', connection })
    try {
      expect(await load.download('data', '--queue')).toMatchObject({ code: 5, stderr: expect.stringContaining('JOB_FAILED') })
    } finally {
      await liar.close()
      connection.disconnect()
    }
  }, 60_000)

  it('leaves no secret in Redis', async () => {
    const load = await loadOf({ count: 40, size: KIB })
    try {
      const download = load.download('data', '--queue')
      await mkdir(join(load.folder, 'data'), { recursive: true })
      const texts = await withQueue(load, 'data', async (queue, client) => {
        await expect.poll(() => queue.getWaitingCount(), { timeout: 15_000 }).toBe(5)
        const keys = await client.keys('stac-auth:*')
        return Promise.all(keys.map(async (key) => ((await client.type(key)) === 'hash' ? JSON.stringify(await client.hgetall(key)) : '')))
      })
      expect(texts.join('')).toContain('auth:schemes')
      expect(texts.join('')).not.toContain('archive-key')
      await load.startWorker('data')
      expect(await download).toMatchObject({ code: 0 })
      await withQueue(load, 'data', async (queue, client) => {
        expect(await queue.getJobCounts()).toMatchObject({ waiting: 0, active: 0, completed: 0, failed: 0 })
        const { knownIdentity } = await import('../../src/node/queue/destination.ts')
        expect(await client.keys(`stac-auth:files-${await knownIdentity(join(load.folder, 'data'))}:*`)).toEqual([])
      })
    } finally {
      await load.stop()
    }
  }, 60_000)
})
