import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import type { CredentialInput } from '../../src/auth/credential.ts'
import type { Send } from '../../src/http/message.ts'
import { undiciTransport } from '../../src/node/transport/undici-transport.ts'
import { target } from '../harness/documents.ts'
import { unchecked } from '../harness/unchecked.ts'
import { type Peer, startPeer } from './peer.ts'

interface Tomcat {
  readonly url: string
  /** Name → password. */
  readonly users: Readonly<Record<string, string>>
  /** How long a nonce of `/short/` lives. */
  readonly nonceSeconds: number
}

let peer: Peer<Tomcat> | undefined
let tomcat: Tomcat

beforeAll(async () => {
  peer = await startPeer<Tomcat>('tomcat')
  if ('facts' in peer) tomcat = peer.facts
}, 150_000)
afterAll(async () => {
  if (peer && 'stop' in peer) await peer.stop()
})
beforeEach(({ skip }) => {
  if (peer && 'missing' in peer) skip(peer.missing)
})

const BASIC = ['basic', 'latin']
const DIGEST = ['md5', 'latin-md5', 'sha-256', 'either']
/** Tomcat looks a Digest user up by the bytes of the name as ISO-8859-1, whatever was hashed. */
const ASCII_NAMES = ['md5', 'sha-256', 'either']
const FILES = Array.from({ length: 8 }, (_, index) => `f${index}.txt`)
const ADA = { username: 'ada', password: 'Circle of Life' }

/** An engine with one credential, and what it sent and got. */
function engine(folder: string, fields: Partial<CredentialInput> = ADA) {
  const scheme = BASIC.includes(folder) ? 'basic' : 'digest'
  const transport = undiciTransport()
  const seen: { status: number; authorization: string; challenge: string }[] = []
  const transportSeen: Send = async (request, options) => {
    const response = await transport(request, options)
    const { authorization = '' } = request.headers
    seen.push({ status: response.status, authorization, challenge: response.headers.get('www-authenticate') ?? '' })
    return response
  }
  const { url } = tomcat
  const credentials = { id: 'mine', type: 'http', scheme, ...fields, sendTo: `${url}/` }
  const auth = createAuth({ credentials: unchecked(credentials), transport: transportSeen })
  const get = async (file: string) => (await auth.fetch(target({ type: 'http', scheme }, `${url}/${folder}/${file}`))).text()
  return { get, seen, statuses: () => seen.map(({ status }) => status) }
}

describe.each([...BASIC, ...DIGEST])('Tomcat guards /%s/', (folder) => {
  it('returns 8 files to concurrent requests, twice', async () => {
    const { get } = engine(folder)
    for (let round = 0; round < 2; round++) {
      expect(await Promise.all(FILES.map(get))).toEqual(FILES.map((file) => `hello from ${folder}/${file}\n`))
    }
  })

  it('authenticates each user', async () => {
    for (const [username, password] of Object.entries(tomcat.users)) {
      if (ASCII_NAMES.includes(folder) && !/^[a-z]+$/.test(username)) continue
      expect(await engine(folder, { username, password }).get('f0.txt'), username).toBe(`hello from ${folder}/f0.txt\n`)
    }
  })

  it.each([
    ['a wrong password', { username: 'ada', password: 'Circle Of Life' }],
    ['an unknown user', { username: 'eve', password: 'Circle of Life' }],
    ['the password of another', { username: 'ada', password: 'guest' }],
  ])('refuses %s', async (_, account) => {
    const { get, statuses } = engine(folder, account)
    await expect(get('f0.txt')).rejects.toMatchObject({ code: 'AUTH_REJECTED', status: 401 })
    expect(statuses().every((status) => status === 401)).toBe(true)
  })

  it('refuses a user without permission to read', async () => {
    const { get } = engine(folder, { username: 'guest', password: 'guest' })
    await expect(get('f0.txt')).rejects.toMatchObject({ code: 'AUTH_REJECTED', status: 403 })
  })
})

describe('Digest of Tomcat', () => {
  it.each([
    ['md5', 'MD5'],
    ['sha-256', 'SHA-256'],
    ['either', 'SHA-256'],
  ])('Digest of Tomcat in /%s/ is answered with %s', async (folder, algorithm) => {
    const { get, seen } = engine(folder)
    await get('f0.txt')
    expect(seen.at(-1)?.authorization).toMatch(new RegExp(`algorithm=${algorithm}(,|$)`))
  })

  it('counts each use of a nonce once', async () => {
    const { get, seen, statuses } = engine('md5')
    await get('f0.txt')
    await Promise.all(FILES.map(get))
    expect(statuses()).toEqual([401, ...Array(9).fill(200)])
    const uses = seen.slice(1).map(({ authorization }) => /nonce="(.*?)".*nc=(\w+)/.exec(authorization)?.slice(1).join(' '))
    expect([new Set(uses).size, new Set(uses.map((use) => use?.split(' ')[0])).size]).toEqual([9, 1])
  })

  it('refuses a request that is sent again', async () => {
    const { get, seen } = engine('md5')
    await get('f0.txt')
    const headers = { authorization: seen.at(-1)?.authorization ?? '' }
    expect((await fetch(`${tomcat.url}/md5/f0.txt`, { headers })).status).toBe(401)
  })

  it('reports when a nonce is too old, and gives the file for a new one', async () => {
    const { get, seen, statuses } = engine('short')
    await get('f0.txt')
    await new Promise((resolve) => setTimeout(resolve, tomcat.nonceSeconds * 1000 + 500))
    expect(await get('f1.txt')).toBe('hello from short/f1.txt\n')
    expect(statuses()).toEqual([401, 200, 401, 200])
    expect(seen[2]?.challenge).toContain('stale=true')
  })
})
