import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import { target } from '../harness/documents.ts'
import { unchecked } from '../harness/unchecked.ts'
import { type Peer, startPeer } from './peer.ts'

interface AuthenScram {
  readonly url: string
  readonly username: string
  readonly password: string
  readonly content: string
}

let peer: Peer<AuthenScram> | undefined
let server: AuthenScram

beforeAll(async () => {
  peer = await startPeer<AuthenScram>('authen-scram')
  if ('facts' in peer) server = peer.facts
}, 150_000)
afterAll(async () => {
  if (peer && 'stop' in peer) await peer.stop()
})
beforeEach(({ skip }) => {
  if (peer && 'missing' in peer) skip(peer.missing)
})

describe.each(['SCRAM-SHA-256', 'SCRAM-SHA-1'])('Authen::SCRAM with %s', (mechanism) => {
  const fetched = async (account: { readonly username?: string; readonly password?: string }) => {
    const { url, username, password } = server
    const entry = { type: 'http', scheme: mechanism.toLowerCase(), username, password, ...account, sendTo: `${url}/` }
    return (await createAuth({ credentials: unchecked(entry) }).fetch(target({ type: 'http', scheme: mechanism }, `${url}/f.txt`))).text()
  }

  it('lets the user in, and proves itself', async () => {
    expect(await fetched({})).toBe(server.content)
  })

  it('refuses a wrong password and a wrong user', async () => {
    await expect(fetched({ password: 'öffne dich' })).rejects.toMatchObject({ code: 'AUTH_REJECTED' })
    await expect(fetched({ username: 'eve' })).rejects.toMatchObject({ name: expect.stringMatching(/Error$/) })
  })
})
