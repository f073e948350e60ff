/** A Redis and an archive for downloads by the workers of a queue. */
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { temporaryFolder } from '../cli/folder.ts'
import { type Archive, startArchive } from '../load/queue/queue-load.ts'
import { type RedisProcess, startRedis } from '../load/queue/redis-process.ts'
import { type Peer, startPeer } from './peer.ts'
import type { RedisFacts } from './redis-facts.ts'

const LARGEST = 24 * 2 ** 20

export interface RedisAndArchive {
  /** Removed after the tests. */
  readonly folder: string
  readonly redis: RedisProcess
  readonly archive: Archive
}

/** Starts both before the tests of the file and ends them after it; without Redis the tests are skipped. */
export async function useRedisAndArchive(): Promise<RedisAndArchive> {
  const folder = await temporaryFolder()
  let peer: Peer<RedisFacts> | undefined
  let redis: RedisProcess | undefined
  let archive: Archive | undefined
  beforeAll(async () => {
    // Installs the package.
    peer = await startPeer<RedisFacts>('redis')
    if (!('facts' in peer)) return
    await peer.stop()
    redis = await startRedis(folder)
    archive = await startArchive(LARGEST)
  }, 150_000)
  afterAll(async () => {
    await redis?.stop()
    await archive?.stop()
  })
  beforeEach(({ skip }) => {
    if (peer && 'missing' in peer) skip(peer.missing)
  })
  return {
    folder,
    get redis() {
      return started(redis)
    },
    get archive() {
      return started(archive)
    },
  }
}

function started<T>(service: T | undefined): T {
  if (service === undefined) throw new Error('it is not started')
  return service
}
