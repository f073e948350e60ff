/** OpenStack Swift with its S3 interface, for all tests of one file. */
import { afterAll, beforeAll, beforeEach } from 'vitest'
import type { S3Keys } from '../../src/platform/platform.ts'
import { type Peer, startPeer } from './peer.ts'

/** What the script says about the service that it started. */
export interface Swift {
  readonly url: string
  readonly region: string
  readonly bucket: string
  /** Key → content. */
  readonly objects: Readonly<Record<string, string>>
  readonly keys: S3Keys
  /** Good keys of another account. */
  readonly others: S3Keys
  /** Host and port that name the bucket. */
  readonly virtualHost: string
}

/** Starts Swift before the tests of this file and stops it after them; the function gives its facts. Where it is missing, they are skipped. */
export function useSwift(): () => Swift {
  let peer: Peer<Swift> | undefined
  beforeAll(async () => {
    peer = await startPeer<Swift>('swift')
  }, 150_000)
  afterAll(async () => {
    if (peer && 'stop' in peer) await peer.stop()
  })
  beforeEach(({ skip }) => {
    if (peer && 'missing' in peer) skip(peer.missing)
  })
  return () => {
    if (peer && 'facts' in peer) return peer.facts
    throw new Error('Swift is not there')
  }
}
