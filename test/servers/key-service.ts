/** A service on loopback that gives temporary keys for a store to holders of its token, and sends all others to its login page. */
import { type AnsweringServer, type Inquiry, jsonAnswer, startAnswering } from './answering-server.ts'
import type { S3ServerKey } from './s3-signature.ts'

export interface KeyServiceOptions {
  /** The bearer token that it takes. */
  readonly token: string
  /** The keys that the store knows: those given are added, and those given before them end. */
  readonly store: S3ServerKey[]
  /** Milliseconds that keys last; default an hour. */
  readonly life?: number
  /** The answer that carries them; default the names that NASA's archives use. */
  readonly shape?: (key: Required<Omit<S3ServerKey, 'expired'>>, expiration: Date) => unknown
}

/** Starts it; keys are at `/s3credentials`, the login page counts as visited at `/login`. */
export function startKeyService({ token, store, life = 3_600_000, shape = archiveShape }: KeyServiceOptions): Promise<AnsweringServer> {
  let given = 0
  return startAnswering((request: Inquiry) => {
    if (request.path === '/login') return { status: 200, body: '<form>' }
    if (request.path !== '/s3credentials' || request.method !== 'GET') return { status: 404 }
    if (request.headers.authorization !== `Bearer ${token}`) return { status: 302, headers: { location: '/login' } }
    const number = ++given
    const key = { accessKeyId: `ASIA${number}`, secretAccessKey: `secret+${number}/k`, sessionToken: `session/${number}==` }
    store.splice(0, store.length, ...store.map((old) => ({ ...old, expired: true })), key)
    return jsonAnswer(200, shape(key, new Date(Date.now() + life)))
  })
}

/** `2026-11-20 12:00:00+00:00`, as Python writes it. */
function archiveShape(key: object, expiration: Date): unknown {
  return {
    ...key,
    expiration: expiration
      .toISOString()
      .replace('T', ' ')
      .replace(/\.\d+Z$/, '+00:00'),
  }
}
