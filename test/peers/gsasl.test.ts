import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import type { HttpRequest } from '../../src/http/message.ts'
import { undiciTransport } from '../../src/node/transport/undici-transport.ts'
import { target } from '../harness/documents.ts'
import { unchecked } from '../harness/unchecked.ts'
import { type Peer, startPeer } from './peer.ts'

interface Gsasl {
  readonly url: string
  readonly password: string
  readonly content: string
}

let peer: Peer<Gsasl> | undefined
let gsasl: Gsasl

beforeAll(async () => {
  peer = await startPeer<Gsasl>('gsasl')
  if ('facts' in peer) gsasl = peer.facts
}, 150_000)
afterAll(async () => {
  if (peer && 'stop' in peer) await peer.stop()
})
beforeEach(({ skip }) => {
  if (peer && 'missing' in peer) skip(peer.missing)
})

describe.each(['SCRAM-SHA-256', 'SCRAM-SHA-1'])('GNU SASL with %s', (mechanism) => {
  const file = () => target({ type: 'http', scheme: mechanism }, `${gsasl.url}/f.txt`)

  /** An engine with that account, and the requests that it sends. */
  function engine(username: string, password = gsasl.password) {
    const sent: HttpRequest[] = []
    const send = undiciTransport()
    const auth = createAuth({
      credentials: unchecked({ type: 'http', scheme: mechanism.toLowerCase(), username, password, sendTo: `${gsasl.url}/` }),
      transport: (request, options) => {
        sent.push(request)
        return send(request, options)
      },
    })
    return { auth, sent }
  }

  it.each(['user', 'a,b=c', '\u00fcser', '\u2168'])('lets %s in, and proves itself', async (username) => {
    const { auth, sent } = engine(username)
    expect(await (await auth.fetch(file())).text()).toBe(gsasl.content)
    expect(sent).toHaveLength(3)
  })

  it('lets one in again and again, and many at once', async () => {
    const { auth } = engine('user')
    expect((await auth.fetch(file())).status).toBe(200)
    const answers = await Promise.all(Array.from({ length: 5 }, () => auth.fetch(file())))
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200))
  })

  it('takes a request that was only authorized, once', async () => {
    const { url, headers } = await engine('user').auth.authorize(file())
    const answers = [await fetch(url, { headers }), await fetch(url, { headers })]
    expect(answers.map(({ status }) => status)).toEqual([200, 401])
  })

  it('refuses a wrong password', async () => {
    const { auth, sent } = engine('user', 'pencils')
    await expect(auth.fetch(file())).rejects.toMatchObject({ code: 'AUTH_REJECTED' })
    expect(sent).toHaveLength(3)
  })
})
