import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import type { CredentialInput } from '../../src/auth/credential.ts'
import type { Send } from '../../src/http/message.ts'
import { undiciTransport } from '../../src/node/transport/undici-transport.ts'
import { target } from '../harness/documents.ts'
import { unchecked } from '../harness/unchecked.ts'
import { type Peer, startPeer } from './peer.ts'

interface Apache {
  readonly url: string
  readonly username: string
  readonly password: string
  /** How long a nonce of `/short/` lives. */
  readonly nonceSeconds: number
}

let peer: Peer<Apache> | undefined
let apache: Apache

beforeAll(async () => {
  peer = await startPeer<Apache>('apache-digest')
  if ('facts' in peer) apache = peer.facts
}, 150_000)
afterAll(async () => {
  if (peer && 'stop' in peer) await peer.stop()
})
beforeEach(({ skip }) => {
  if (peer && 'missing' in peer) skip(peer.missing)
})

/** An engine, what it sent and what came back; `change` is somebody in between who changes what the server says of itself. */
function engine(fields: Partial<CredentialInput> = {}, change?: (info: string) => string) {
  const transport = undiciTransport()
  const seen: { status: number; nonce: string | undefined; info: string }[] = []
  const send: Send = async (request, options) => {
    const response = await transport(request, options)
    const info = response.headers.get('authentication-info') ?? ''
    const nonce = /nonce="(.*?)"/.exec(request.headers.authorization ?? '')?.[1]
    seen.push({ status: response.status, nonce, info: `${info} ${response.headers.get('www-authenticate') ?? ''}` })
    if (change && info !== '') Object.defineProperty(response, 'headers', { value: new Headers({ 'authentication-info': change(info) }) })
    return response
  }
  const { url, username, password } = apache
  const entry = { id: 'mine', type: 'http', scheme: 'digest', username, password, requireServerProof: true, ...fields, sendTo: `${url}/` }
  const auth = createAuth({ credentials: unchecked(entry), transport: send })
  const get = async (folder: string) => (await auth.fetch(target({ type: 'http', scheme: 'digest' }, `${url}/${folder}/f.txt?a=b`))).text()
  return { get, seen, statuses: () => seen.map(({ status }) => status) }
}

describe('Apache', () => {
  it('returns a file, and proves that it knows the password', async () => {
    const { get, seen, statuses } = engine()
    for (let round = 0; round < 3; round++) expect(await get('long')).toBe('hello from long\n')
    expect(statuses()).toEqual([401, 200, 200, 200])
    expect(seen[1]?.info).toContain('rspauth="')
  })

  it('returns many files at a time', async () => {
    const { get } = engine()
    const texts = await Promise.all(Array.from({ length: 12 }, (_, index) => get(index % 2 ? 'long' : 'short')))
    expect(texts).toEqual(Array.from({ length: 12 }, (_, index) => (index % 2 ? 'hello from long\n' : 'hello from short\n')))
  })

  it('reports when a nonce is too old, and names the next one before', async () => {
    const { get, seen, statuses } = engine()
    const wait = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1000))
    await get('short')
    await wait(apache.nonceSeconds - 0.8)
    await get('short')
    const [, next] = /nextnonce="(.*?)"/.exec(seen.at(-1)?.info ?? '') ?? []
    expect(next).toBeDefined()
    await get('short')
    expect(seen.at(-1)).toMatchObject({ status: 200, nonce: next })
    expect(statuses()).toEqual([401, 200, 200, 200])
    await wait(apache.nonceSeconds + 1)
    expect(await get('short')).toBe('hello from short\n')
    expect(statuses()).toEqual([401, 200, 200, 200, 401, 200])
    expect(seen.at(-2)?.info).toContain('stale=true')
  })

  it('refuses a wrong password', async () => {
    const { get, statuses } = engine({ password: 'wrong' })
    await expect(get('long')).rejects.toMatchObject({ code: 'AUTH_REJECTED', status: 401 })
    expect(statuses()).toEqual([401, 401])
  })

  it('Apache is caught when someone changes its proof', async () => {
    const { get } = engine({}, (info) => info.replace(/rspauth="./, 'rspauth="x'))
    await expect(get('long')).rejects.toMatchObject({ code: 'AUTH_SERVER_UNPROVEN' })
    await expect(engine({}, () => 'qop=auth').get('long')).rejects.toMatchObject({ code: 'AUTH_SERVER_UNPROVEN' })
  })
})
