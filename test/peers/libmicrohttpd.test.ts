import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import type { CredentialObject } from '../../src/auth/credential.ts'
import { target } from '../harness/documents.ts'
import { unchecked } from '../harness/unchecked.ts'
import { type Peer, startPeer } from './peer.ts'

interface Libmicrohttpd {
  readonly url: string
  readonly username: string
  readonly password: string
}

let peer: Peer<Libmicrohttpd> | undefined
let server: Libmicrohttpd

beforeAll(async () => {
  peer = await startPeer<Libmicrohttpd>('libmicrohttpd')
  if ('facts' in peer) server = peer.facts
}, 150_000)
afterAll(async () => {
  if (peer && 'stop' in peer) await peer.stop()
})
beforeEach(({ skip }) => {
  if (peer && 'missing' in peer) skip(peer.missing)
})

/** Fetches the path of each turn with one engine, all of them side by side, in several rounds. */
async function readTogether(paths: readonly string[], scheme = 'digest', fields: Partial<CredentialObject> = {}): Promise<string[]> {
  const { url, username, password } = server
  const auth = createAuth({
    credentials: unchecked({ id: 'mine', type: 'http', scheme, username, password, ...fields, sendTo: `${url}/` }),
  })
  const texts: string[] = []
  for (let round = 0; round < 4; round++) {
    const get = async (path: string) => (await auth.fetch(target({ type: 'http', scheme }, `${url}${path}`))).text()
    texts.push(...(await Promise.all(paths.map(get))))
  }
  return texts
}

const hello = (paths: readonly string[]) => Array.from({ length: 4 }, () => paths.map((path) => `hello from ${path}\n`)).flat()

describe('libmicrohttpd gives every file', () => {
  it.each(['md5', 'sha-256'])('libmicrohttpd gives every file to parallel digest requests of different files: %s', async (folder) => {
    const paths = Array.from({ length: 8 }, (_, index) => `/${folder}/f${index}.tif`)
    expect(await readTogether(paths)).toEqual(hello(paths))
  })

  it.each(['md5', 'sha-256'])(
    'libmicrohttpd gives every file to parallel digest requests of one file, which share a nonce: %s',
    async (folder) => {
      const paths = Array.from({ length: 8 }, () => `/${folder}/f.tif`)
      expect(await readTogether(paths)).toEqual(hello(paths))
    },
  )

  it('libmicrohttpd gives every file to basic', async () => {
    expect(await readTogether(['/basic/f'], 'basic')).toEqual(hello(['/basic/f']))
  })
})

describe('libmicrohttpd refuses', () => {
  it.each(['md5', 'sha-256', 'basic'])('a wrong password: %s', async (folder) => {
    const scheme = folder === 'basic' ? 'basic' : 'digest'
    const work = readTogether([`/${folder}/f`], scheme, { password: 'Circle Of Life' })
    await expect(work).rejects.toMatchObject({ code: 'AUTH_REJECTED', status: 401 })
  })

  it('a wrong password of parallel requests', async () => {
    const work = readTogether(Array(8).fill('/md5/f'), 'digest', { password: 'Circle Of Life' })
    await expect(work).rejects.toMatchObject({ code: 'AUTH_REJECTED', status: 401 })
  })
})
