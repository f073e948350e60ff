import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import type { Send } from '../../src/http/message.ts'
import { undiciTransport } from '../../src/node/transport/undici-transport.ts'
import { target } from '../harness/documents.ts'
import { unchecked } from '../harness/unchecked.ts'
import { type Peer, startPeer } from './peer.ts'

interface OAuth1 {
  readonly url: string
  readonly content: string
  readonly consumer: { readonly key: string; readonly secret: string }
  readonly token: { readonly value: string; readonly secret: string }
  /** The key of the consumer, PEM. */
  readonly privateKeyFile: string
}

let peer: Peer<OAuth1> | undefined
let oauth1: OAuth1
let privateKey: string

beforeAll(async () => {
  peer = await startPeer<OAuth1>('oauth1')
  if (!('facts' in peer)) return
  oauth1 = peer.facts
  privateKey = await readFile(oauth1.privateKeyFile, 'utf8')
}, 150_000)
afterAll(async () => {
  if (peer && 'stop' in peer) await peer.stop()
})
beforeEach(({ skip }) => {
  if (peer && 'missing' in peer) skip(peer.missing)
})

const scheme = { type: 'http', scheme: 'OAuth' }
const file = (path = '/f.txt') => target(scheme, oauth1.url + path)

/** An engine with the consumer and its token, unless told otherwise. */
function engine(fields: object = {}, transport?: Send) {
  const { consumer, token, url } = oauth1
  const entry = { type: 'http', scheme: 'oauth', consumerKey: consumer.key, consumerSecret: consumer.secret, sendTo: `${url}/` }
  return createAuth({
    credentials: unchecked({ ...entry, token: token.value, tokenSecret: token.secret, ...fields }),
    ...(transport && { transport }),
  })
}

const signing: readonly [string, () => object][] = [
  ['HMAC-SHA1', () => ({})],
  ['HMAC-SHA256', () => ({ signatureMethod: 'HMAC-SHA256' })],
  ['RSA-SHA1', () => ({ signatureMethod: 'RSA-SHA1', privateKey })],
]

describe.each(signing)('OAuthLib takes %s', (_method, fields) => {
  it.each(['/f.txt', '/a%20b/%C3%A9', "/f.txt?b=2&a=x%20y&a=+&c&d=!'()*~%7E&e=%C3%A9&f=%3D%26"])(
    'accepts the signature for %s',
    async (path) => {
      expect(await (await engine(fields()).fetch(file(path))).text()).toBe(oauth1.content)
    },
  )

  it('accepts the signature of a form', async () => {
    const body = new URLSearchParams({ 'a b': 'é+&=', c: '', z: '1' })
    expect((await engine(fields()).fetch(file('/f?z=0'), { method: 'POST', body })).status).toBe(200)
  })

  it('accepts the signature of a consumer without a token', async () => {
    expect((await engine({ ...fields(), token: undefined, tokenSecret: undefined }).fetch(file('/consumer/f.txt'))).status).toBe(200)
  })

  it('once', async () => {
    const { url, headers } = await engine(fields()).authorize(file())
    const answers = [await fetch(url, { headers }), await fetch(url, { headers })]
    expect(answers.map(({ status }) => status)).toEqual([200, 401])
  })
})

describe('OAuthLib refuses', () => {
  it.each([{ consumerSecret: 'wrong' }, { tokenSecret: 'wrong' }, { token: 'othertoken' }, { consumerKey: 'somebody' }])(
    '%j',
    async (fields) => {
      await expect(engine(fields).fetch(file())).rejects.toMatchObject({ code: 'AUTH_REJECTED', status: 401 })
    },
  )

  it('another query than the one that was signed', async () => {
    const { url, headers } = await engine().authorize(file('/f.txt?a=1'))
    expect((await fetch(url.replace('a=1', 'a=2'), { headers })).status).toBe(401)
  })
})

describe('PLAINTEXT', () => {
  /** What is in front of the server and does the encryption. */
  const gateway: Send = (request, options) =>
    undiciTransport()(
      { ...request, url: request.url.replace('https://gateway.example', oauth1.url) },
      { ...options, allowPrivateNetwork: true },
    )
  const plain = (fields: object = {}) => engine({ signatureMethod: 'PLAINTEXT', sendTo: 'https://gateway.example/', ...fields }, gateway)
  const wanted = target(scheme, 'https://gateway.example/f.txt')

  it('PLAINTEXT is taken by OAuthLib', async () => {
    expect(await (await plain().fetch(wanted)).text()).toBe(oauth1.content)
  })

  it('PLAINTEXT is refused with a wrong secret', async () => {
    await expect(plain({ tokenSecret: 'wrong' }).fetch(wanted)).rejects.toMatchObject({ code: 'AUTH_REJECTED' })
  })
})
