import { afterEach, describe, expect, it } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import type { CredentialObject } from '../../../src/auth/credential.ts'
import { canaryOf, leaks, shown } from '../../harness/canary.ts'
import { target } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { type Answer, type AnsweringServer, type Inquiry, startAnswering } from '../../servers/answering-server.ts'
import { type DigestOptions, digestServer } from '../../servers/digest-server.ts'

const ACCOUNT = { username: 'ada', password: 'Circle of Life' }
const secret = canaryOf(ACCOUNT.password)

let server: AnsweringServer | undefined
afterEach(() => server?.close())

/** The user's engine before a server. */
async function facing(answerTo: (request: Inquiry) => Answer | Promise<Answer>, fields: Partial<CredentialObject> = {}) {
  const started = await startAnswering(answerTo)
  server = started
  const sendTo = `${started.origin}/`
  const auth = createAuth({ credentials: unchecked({ id: 'mine', type: 'http', scheme: 'digest', ...ACCOUNT, ...fields, sendTo }) })
  const file = target({ type: 'http', scheme: 'digest' }, `${sendTo}f.tif?a=b%20c`)
  const statuses = () => started.exchanges.map(({ answer }) => answer.status)
  const header = (index: number) => started.exchanges[index]?.request.headers.authorization ?? ''
  return { auth, file, statuses, header, get: async () => (await auth.fetch(file)).text() }
}

const guarded = (options: Partial<DigestOptions> = {}, fields: Partial<CredentialObject> = {}) =>
  facing(digestServer({ ...ACCOUNT, ...options }), fields)

describe('a strict server gives its file', () => {
  it.each<[string, Partial<DigestOptions>]>([
    ...['MD5', 'SHA-256', 'SHA-512-256'].flatMap((name): [string, Partial<DigestOptions>][] => [
      [name, { algorithms: [name] }],
      [`${name}-sess`, { algorithms: [`${name}-sess`] }],
      [`${name} of RFC 2069`, { algorithms: [name], qop: '' }],
    ]),
    ['auth-int', { qop: 'auth-int' }],
    ['userhash', { userhash: true, algorithms: ['SHA-256'] }],
    ['a realm and a user outside ASCII', { realm: 'Zürich \u2192', username: 'Jäsøn Doe', password: 'Secret, or not?' }],
    ['nextnonce', { nextnonce: true }],
    ['nextnonce of a session', { nextnonce: true, algorithms: ['SHA-256-sess'] }],
  ])('a strict server gives its file for %s', async (_what, options) => {
    const account = { ...ACCOUNT, ...options }
    const { get, statuses } = await guarded(options, { username: account.username, password: account.password })
    for (let round = 0; round < 3; round++) expect(await get()).toBe('data')
    expect(statuses()).toEqual([401, 200, 200, 200])
  })

  it('a strict server gives its file with a new nonce when the old one is too old', async () => {
    const { get, statuses } = await guarded({ uses: 2 })
    for (let round = 0; round < 3; round++) await get()
    expect(statuses()).toEqual([401, 200, 200, 401, 200])
  })
})

/** Answers eight requests with an authorization at a time, the last one first, as long as as many are on their way. */
function reversing(answerTo: (request: Inquiry) => Answer): (request: Inquiry) => Promise<Answer> {
  let waiting: (() => void)[] = []
  const settle = () => {
    const batch = waiting.reverse()
    waiting = []
    for (const next of batch) next()
  }
  return async (request) => {
    if (request.headers.authorization) {
      const answered = new Promise<void>((resolve) => {
        waiting.push(resolve)
      })
      if (waiting.length === 8) settle()
      else setTimeout(settle, 50)
      await answered
    }
    return answerTo(request)
  }
}

describe('a server that minds parallel requests loses none of them', () => {
  it.each<[string, Partial<DigestOptions>]>([
    ['with one nonce for all', { oneNonce: true }],
    ['with one nonce for all, of a session', { oneNonce: true, algorithms: ['SHA-256-sess'] }],
    ['with counts that must rise', { oneNonce: true, counts: 'rising' }],
    ['with counts that must rise, and says stale', { oneNonce: true, counts: 'rising', replay: 'stale' }],
    ['with counts that must rise, and a nonce each', { counts: 'rising' }],
    ['with room for one nonce', { slots: 1 }],
    ['with room for two nonces whose counts must rise', { slots: 2, counts: 'rising' }],
    ['with the next nonce in every answer', { nextnonce: true, counts: 'rising' }],
  ])('%s', async (_what, options) => {
    const { get, statuses } = await facing(reversing(digestServer({ ...ACCOUNT, ...options })))
    for (let round = 0; round < 3; round++) {
      expect(await Promise.all(Array.from({ length: 8 }, get))).toEqual(Array(8).fill('data'))
    }
    expect(statuses().filter((status) => status === 200)).toHaveLength(24)
  })

  it('a wrong password is tried at most once more for all parallel requests, and none of them is lost', async () => {
    const { get, header } = await facing(digestServer({ ...ACCOUNT, slots: 1 }), { password: 'Circle Of Life' })
    const codes = await Promise.all(Array.from({ length: 8 }, async () => (await failureOf(get())) as Error & { readonly code?: string }))
    expect(codes.map(({ code }) => code)).toEqual(Array(8).fill('AUTH_REJECTED'))
    const tried = (server?.exchanges ?? []).filter((_exchange, index) => header(index) !== '')
    expect(tried).toHaveLength(9)
  })
})

describe('an account outside ASCII at a server that names no charset', () => {
  const account = { username: 'Jäsøn', password: 'Öffne dich' }
  const ways = ['utf8', 'latin1'] as const

  it.each(ways.flatMap((way) => [[way, 'MD5'] as const, [way, 'SHA-256'] as const]))(
    'an account outside ASCII at a server that names no charset is found: %s with %s',
    async (way, algorithm) => {
      const ascii = algorithm === 'SHA-256' ? { username: 'ada' } : {}
      const { get, statuses } = await guarded({ ...account, ...ascii, unnamed: way, algorithms: [algorithm] }, { ...account, ...ascii })
      for (let round = 0; round < 3; round++) expect(await get()).toBe('data')
      expect(statuses()).toEqual(way === 'utf8' ? [401, 200, 200, 200] : [401, 401, 200, 200, 200])
    },
  )

  it('a wrong account outside ASCII is tried twice, and once where it has no other encoding', async () => {
    const wrong = async (password: string, options: Partial<DigestOptions> = {}) => {
      await server?.close()
      const { get, statuses } = await guarded({ ...account, ...options }, { ...account, password })
      expect(await failureOf(get())).toMatchObject({ code: 'AUTH_REJECTED' })
      return statuses().length
    }
    expect(await wrong('öffne dich', { unnamed: 'utf8' })).toBe(3)
    expect(await wrong('открой', { unnamed: 'utf8' })).toBe(2)
    expect(await wrong('öffne dich')).toBe(2)
  })

  it('an account outside ASCII is not tried in the other encoding once it was accepted', async () => {
    let known: string = account.password
    const { get, statuses } = await facing((request) => digestServerOf(known)(request), account)
    const servers = new Map<string, (request: Inquiry) => Answer>()
    const digestServerOf = (password: string) => {
      const found = servers.get(password) ?? digestServer({ ...account, password, unnamed: 'utf8' })
      servers.set(password, found)
      return found
    }
    expect(await get()).toBe('data')
    known = 'another'
    expect(await failureOf(get())).toMatchObject({ code: 'AUTH_REJECTED' })
    expect(statuses()).toEqual([401, 200, 401, 401])
  })
})

describe('a request that is only made', () => {
  it('a request that is only made can be sent once, and reports nothing about the password', async () => {
    const { auth, file } = await guarded()
    const { method, url, headers } = await auth.authorize(file)
    expect((await fetch(url, { method, headers })).status).toBe(200)
    expect((await fetch(url, { method, headers })).status).toBe(401)
    expect(leaks([secret], { request: JSON.stringify([url, headers]) })).toEqual([])
    expect(auth.peek(file)).toBeUndefined()
  })
})

describe('a wrong password', () => {
  it('a wrong password is reported, and costs two rounds each time', async () => {
    const { get, statuses } = await guarded({}, { password: 'Circle Of Life' })
    const wrong = canaryOf('Circle Of Life')
    for (const rounds of [2, 4]) {
      const error = await failureOf(get())
      expect(error).toMatchObject({ code: 'AUTH_REJECTED', credential: 'mine', status: 401 })
      expect(leaks([wrong], { error: shown(error) })).toEqual([])
      expect(statuses()).toHaveLength(rounds)
    }
  })
})

describe('a credential', () => {
  it.each([[[]], [['SHA-1']], [['MD5', 'sha-256']], [['MD5-sess']]])('a credential cannot have the algorithms %j', async (algorithms) => {
    const { get, statuses } = await guarded({}, { algorithms })
    expect(await failureOf(get())).toMatchObject({ code: 'CONFIG_INVALID', pointer: '/credentials/0/algorithms' })
    expect(statuses()).toEqual([])
  })
})

describe('a server that cheats', () => {
  const asks = (challenge: string): Answer => ({ status: 401, headers: { 'www-authenticate': challenge } })

  const downgrading = ({ headers }: Inquiry) =>
    asks(`Digest realm="r", nonce="n", qop=auth, ${headers.authorization ? 'stale=true' : 'algorithm=SHA-256'}`)

  it.each<[string, (request: Inquiry) => Answer, string, number]>([
    ['proves nothing', digestServer({ ...ACCOUNT, rspauth: 'wrong' }), 'AUTH_SERVER_UNPROVEN', 2],
    ['finds every nonce too old', digestServer({ ...ACCOUNT, uses: 0 }), 'AUTH_REJECTED', 3],
    ['asks for Basic', () => asks('Basic realm="files"'), 'AUTH_CHALLENGE_UNSUPPORTED', 1],
    ['asks for an algorithm of its own', digestServer({ ...ACCOUNT, algorithms: ['MD5-new'] }), 'AUTH_CHALLENGE_UNSUPPORTED', 1],
    ['asks for less the second time', downgrading, 'AUTH_CHALLENGE_UNSUPPORTED', 2],
    ['has an escape sequence in its realm', () => asks('Digest realm="\u009b2J", nonce="n\\\u0085", qop=auth'), 'AUTH_REJECTED', 4],
    ['has 9 kB of challenges', () => asks(`Digest realm="r", nonce="n", x="${'y'.repeat(9000)}"`), 'AUTH_CHALLENGE_UNSUPPORTED', 1],
    ['has 64 kB of challenges', () => asks(`Digest realm="r", nonce="n", x="${'y'.repeat(65_536)}"`), 'RESPONSE_TOO_LARGE', 1],
  ])('a server that cheats and %s is caught', async (_what, answerTo, code, rounds) => {
    const { get, statuses } = await facing(answerTo)
    const error = await failureOf(get())
    expect(error).toMatchObject({ code })
    expect(leaks([secret], { error: shown(error), wire: JSON.stringify(server?.exchanges) })).toEqual([])
    expect(statuses()).toHaveLength(rounds)
  })
})
