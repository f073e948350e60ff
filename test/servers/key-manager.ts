/** A service on loopback at which users make and delete pairs of keys for a store, which knows a new pair after a while only. */
import { randomBytes } from 'node:crypto'
import { type AnsweringServer, type Inquiry, jsonAnswer, startAnswering } from './answering-server.ts'
import type { S3ServerKey } from './s3-signature.ts'

export interface KeyManagerOptions {
  /** The header that it takes. */
  readonly authorization: string
  /** The keys that the store knows. */
  readonly store: S3ServerKey[]
  /** True: the store does not know a new pair before {@link KeyManager.settle}. */
  readonly slow?: boolean
}

export interface KeyManager extends AnsweringServer {
  /** Pairs that were made and not deleted. */
  readonly pairs: readonly S3ServerKey[]
  /** Makes the store know all pairs. */
  settle(): void
}

/** Most pairs of a user. */
const MOST = 3

/** Starts it; `POST /api/credentials` makes a pair, `DELETE /api/credentials/access_id/ID` deletes it. */
export async function startKeyManager({ authorization, store, slow = false }: KeyManagerOptions): Promise<KeyManager> {
  const pairs: S3ServerKey[] = []
  const settle = () => {
    store.splice(0, store.length, ...pairs)
  }
  const server = await startAnswering(({ method, path, headers }: Inquiry) => {
    if (headers.authorization !== authorization) return jsonAnswer(401, { detail: 'Not authenticated' })
    if (path === '/api/credentials' && method === 'POST') {
      if (pairs.length >= MOST) return jsonAnswer(403, { detail: 'Max number of credentials reached' })
      const pair = { accessKeyId: randomBytes(10).toString('hex').toUpperCase(), secretAccessKey: randomBytes(20).toString('hex') }
      pairs.push(pair)
      if (!slow) settle()
      return jsonAnswer(200, { data: { access_id: pair.accessKeyId, secret: pair.secretAccessKey } })
    }
    const id = /^\/api\/credentials\/access_id\/(\w+)$/.exec(path)?.[1]
    if (id === undefined || method !== 'DELETE') return { status: 404 }
    const index = pairs.findIndex(({ accessKeyId }) => accessKeyId === id)
    if (index < 0) return jsonAnswer(404, { detail: 'Not found' })
    pairs.splice(index, 1)
    settle()
    return { status: 204 }
  })
  return Object.assign(server, { pairs, settle })
}
