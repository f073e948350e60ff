import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import type { CredentialInput } from '../../src/auth/credential.ts'
import { target } from '../harness/documents.ts'
import { unchecked } from '../harness/unchecked.ts'
import { type Peer, startPeer } from './peer.ts'

interface Lighttpd {
  readonly url: string
  /** Name → password. */
  readonly users: Readonly<Record<string, string>>
}

let peer: Peer<Lighttpd> | undefined
let lighttpd: Lighttpd

beforeAll(async () => {
  peer = await startPeer<Lighttpd>('lighttpd')
  if ('facts' in peer) lighttpd = peer.facts
}, 150_000)
afterAll(async () => {
  if (peer && 'stop' in peer) await peer.stop()
})
beforeEach(({ skip }) => {
  if (peer && 'missing' in peer) skip(peer.missing)
})

/** The texts of a folder's file, fetched with one engine, one after another and then side by side. */
async function read(folder: string, scheme: string, fields: Partial<CredentialInput>): Promise<string[]> {
  const entry = { id: 'mine', type: 'http', scheme, ...fields, sendTo: `${lighttpd.url}/` }
  const auth = createAuth({ credentials: unchecked(entry) })
  const file = target({ type: 'http', scheme }, `${lighttpd.url}/${folder}/f.txt?a=b%20c&d`)
  const get = async () => (await auth.fetch(file)).text()
  return [await get(), await get(), ...(await Promise.all([get(), get(), get()]))]
}

const greetings = (folder: string) => Array(5).fill(`hello from ${folder}\n`)
const FOLDERS = ['md5', 'sha-256', 'sha-512-256', 'userhash', 'userhash-512', 'many']

describe('lighttpd gives a file', () => {
  it.each(FOLDERS)('lighttpd gives a file to digest: %s', async (folder) => {
    for (const [username, password] of Object.entries(lighttpd.users)) {
      expect(await read(folder, 'digest', { username, password })).toEqual(greetings(folder))
    }
  })

  it('lighttpd gives a file to digest with the weaker algorithm where the credential requires that', async () => {
    const fields = { username: 'alice', password: lighttpd.users.alice, algorithms: ['MD5'] }
    expect(await read('many', 'digest', fields)).toEqual(greetings('many'))
  })

  it('lighttpd gives a file to basic', async () => {
    for (const [username, password] of Object.entries(lighttpd.users)) {
      expect(await read('basic', 'basic', { username, password })).toEqual(greetings('basic'))
    }
  })
})

/** It waits for a second before it says no. */
describe('lighttpd refuses', () => {
  it.each(FOLDERS)('a wrong password: %s', async (folder) => {
    const work = read(folder, 'digest', { username: 'alice', password: 'wrong' })
    await expect(work).rejects.toMatchObject({ code: 'AUTH_REJECTED', status: 401 })
  })

  it('a wrong password with basic, and a user that it does not know', async () => {
    await expect(read('basic', 'basic', { username: 'alice', password: 'wrong' })).rejects.toMatchObject({ code: 'AUTH_REJECTED' })
    await expect(read('md5', 'digest', { username: 'bob', password: 'pa:ss wörd' })).rejects.toMatchObject({ code: 'AUTH_REJECTED' })
  })

  it('lighttpd gets no credential of another scheme or algorithm', async () => {
    const account = { username: 'alice', password: lighttpd.users.alice }
    await expect(read('basic', 'digest', account)).rejects.toMatchObject({ code: 'AUTH_CHALLENGE_UNSUPPORTED' })
    await expect(read('md5', 'digest', { ...account, algorithms: ['SHA-256'] })).rejects.toMatchObject({
      code: 'AUTH_CHALLENGE_UNSUPPORTED',
    })
  })
})
