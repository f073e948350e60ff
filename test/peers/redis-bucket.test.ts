/** Downloads by the workers of a queue straight into a bucket. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ended, QueueLoad } from '../load/queue/queue-load.ts'
import { type S3Bucket, startS3Bucket } from '../servers/s3-bucket.ts'
import { useRedisAndArchive } from './redis-archive.ts'

const KIB = 1024
const MIB = 2 ** 20
const KEY = { accessKeyId: 'AKIDBUCKET', secretAccessKey: 'secret-of-the-bucket' }
const used = await useRedisAndArchive()
let bucket: S3Bucket

beforeAll(async () => {
  bucket = await startS3Bucket({ bucket: 'mine', key: KEY })
})
afterAll(() => bucket?.close())

/** Objects below a prefix, but for those of stac-auth itself. */
const objectsOf = (prefix: string) =>
  new Map(
    [...bucket.objects]
      .filter(([key]) => key.startsWith(`${prefix}/`) && !key.includes('/.'))
      .map(([key, bytes]) => [key.slice(prefix.length + 1), bytes]),
  )

describe('workers of a queue with a bucket', () => {
  it('lose no file when one of them is killed, and write the manifest of one process', async () => {
    const { folder, redis, archive } = used
    const place = join(folder, 'killed')
    await mkdir(place)
    const groups = [
      { count: 3, size: 24 * MIB },
      { count: 200, size: 64 * KIB },
    ]
    const environment = {
      AWS_ENDPOINT_URL: bucket.url,
      AWS_ACCESS_KEY_ID: KEY.accessKeyId,
      AWS_SECRET_ACCESS_KEY: KEY.secretAccessKey,
      AWS_EC2_METADATA_DISABLED: 'true',
    }
    const load = await QueueLoad.prepare(place, archive, redis.url, groups, environment)
    try {
      expect(await load.download('s3://mine/alone')).toMatchObject({ code: 0 })
      const [killed] = [await load.startWorker('s3://mine/shared'), await load.startWorker('s3://mine/shared')]
      const download = load.download('s3://mine/shared', '--queue')
      await expect.poll(() => bucket.log.includes('UploadPart shared/s25165824-0/f0.h5'), { timeout: 30_000 }).toBe(true)
      await ended(killed, 'SIGKILL')
      expect(await download).toMatchObject({ code: 0 })
      const [alone, shared] = [objectsOf('alone'), objectsOf('shared')]
      expect([...shared.keys()].sort()).toEqual([...alone.keys()].sort())
      expect([...shared].filter(([name, bytes]) => !alone.get(name)?.equals(bytes)).map(([name]) => name)).toEqual([])
      expect(shared.size).toBe(203)
      const [one, many] = [await load.manifest('s3://mine/alone'), await load.manifest('s3://mine/shared')]
      expect(many).toEqual(one)
      // What the killed one had begun is left, as docs/download.md says.
      expect(bucket.uploads.size).toBeLessThanOrEqual(3)
      expect(JSON.stringify(bucket.headers)).not.toContain('archive-key')
      expect(await load.run('queue', 'show', '-d', 's3://mine/shared')).toContain('0 files failed')
    } finally {
      await load.stop()
    }
  }, 120_000)
})
