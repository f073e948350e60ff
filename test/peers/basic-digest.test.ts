import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import type { CredentialObject } from '../../src/auth/credential.ts'
import { target } from '../harness/documents.ts'
import { unchecked } from '../harness/unchecked.ts'
import { type Peer, startPeer } from './peer.ts'

interface Server {
  readonly url: string
  /** Name → password. */
  readonly users: Readonly<Record<string, string>>
}

/** Servers that know the same users, and the folders that they guard. */
const PEERS = [
  { name: 'nginx', folders: { basic: 'basic' } },
  { name: 'caddy', folders: { basic: 'basic' } },
  { name: 'twisted', folders: { basic: 'basic', md5: 'digest' } },
] as const

describe.each(PEERS)('$name', ({ name, folders }) => {
  let peer: Peer<Server> | undefined
  let server: Server

  beforeAll(async () => {
    peer = await startPeer<Server>(name)
    if ('facts' in peer) server = peer.facts
  }, 150_000)
  afterAll(async () => {
    if (peer && 'stop' in peer) await peer.stop()
  })
  beforeEach(({ skip }) => {
    if (peer && 'missing' in peer) skip(peer.missing)
  })

  /** The texts of a folder's file, fetched with one engine, one after another and then side by side. */
  async function read(folder: string, scheme: string, fields: Partial<CredentialObject>): Promise<string[]> {
    const auth = createAuth({ credentials: unchecked({ id: 'mine', type: 'http', scheme, ...fields, sendTo: `${server.url}/` }) })
    const get = async () => (await auth.fetch(target({ type: 'http', scheme }, `${server.url}/${folder}/f.txt`))).text()
    return [await get(), ...(await Promise.all(Array.from({ length: 4 }, get)))]
  }

  describe.each(Object.entries(folders))('guards %s by %s', (folder, scheme) => {
    it('returns the file to each user', async () => {
      for (const [username, password] of Object.entries(server.users)) {
        expect(await read(folder, scheme, { username, password })).toEqual(Array(5).fill(`hello from ${folder}\n`))
      }
    })

    it('refuses a wrong password, a wrong user and the password of another user', async () => {
      const wrong = [
        { username: 'ada', password: 'Circle Of Life' },
        { username: 'eve', password: 'Circle of Life' },
        { username: 'ada', password: 'Öffne dich' },
      ]
      for (const account of wrong) await expect(read(folder, scheme, account)).rejects.toMatchObject({ code: 'AUTH_REJECTED', status: 401 })
    })
  })
})
