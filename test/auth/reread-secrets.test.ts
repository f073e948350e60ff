import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, type Mock, vi } from 'vitest'
import { withRereadSecrets } from '../../src/auth/authorize.ts'
import { type CredentialObject, Secret } from '../../src/auth/credential.ts'
import type { CredentialMatch } from '../../src/auth/select.ts'
import { CredentialError, NetworkError } from '../../src/errors.ts'
import type { HttpResponse } from '../../src/http/message.ts'
import { scheme, target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { type Reply, routes } from '../harness/scripted.ts'
import { unchecked } from '../harness/unchecked.ts'
import { DATA, SIGN_URL, TOKEN_URL, victim } from '../harness/victim.ts'

const F = `${DATA}f.tif`
const BASIC = (password: string) => `Basic ${Buffer.from(`ada:${password}`).toString('base64')}`

let folder: string
let path: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stac-auth-reread-'))
  path = join(folder, 'secret')
  await put('old')
})
afterEach(() => rm(folder, { recursive: true }))

const put = (text: string) => writeFile(path, text)

/** A program that prints the file and counts its calls. */
function counting() {
  const count = join(folder, 'count')
  const script = `const fs = require('fs'); fs.appendFileSync(${JSON.stringify(count)}, 'x'); console.log(fs.readFileSync(${JSON.stringify(path)}, 'utf8'))`
  return { source: { command: [process.execPath, '-e', script] }, count }
}

/** Accepts one header value, which a test changes. */
function guard(accepted: () => string, refusal: Reply = { status: 401 }) {
  return ({ headers, url }: { readonly headers: Readonly<Record<string, string>>; readonly url: string }): Reply =>
    [headers.authorization, headers['x-api-key'], new URL(url).searchParams.get('key'), headers.cookie].includes(accepted())
      ? { body: 'data' }
      : refusal
}

describe('a secret that is refreshed outside', () => {
  const account = { id: 'a', type: 'http', scheme: 'basic', username: 'ada', sendTo: DATA }
  const kinds: readonly (readonly [string, (source: object) => CredentialObject, object, (secret: string) => string])[] = [
    ['a bearer token', (token) => ({ id: 'a', type: 'http', scheme: 'bearer', token, sendTo: DATA }), scheme.bearer, (v) => `Bearer ${v}`],
    ['a password', (password) => ({ ...account, password }), scheme.basic, BASIC],
    ['a key', (value) => ({ id: 'a', type: 'apiKey', in: 'header', name: 'x-api-key', value, sendTo: DATA }), scheme.key(), (v) => v],
    [
      'a key in the query',
      (value) => ({ id: 'a', type: 'apiKey', in: 'query', name: 'key', value, sendTo: DATA }),
      scheme.key('key', 'query'),
      (v) => v,
    ],
    [
      'a key in a cookie',
      (value) => ({ id: 'a', type: 'apiKey', in: 'cookie', name: 'key', value, sendTo: DATA }),
      scheme.key('key', 'cookie'),
      (v) => `key=${v}`,
    ],
    [
      'a ready-made value',
      (credentials) => ({ id: 'a', type: 'http', scheme: 'token', credentials, sendTo: DATA }),
      { type: 'http', scheme: 'token' },
      (v) => `token ${v}`,
    ],
  ]

  it.each(kinds)('is read again after a 401, and the request is repeated: %s', async (_name, credential, k, sent) => {
    for (const source of [{ file: path }, counting().source]) {
      await put('old')
      let accepted = sent('old')
      const { auth, script } = victim({ credentials: unchecked(credential(source)) }, routes({ [F]: guard(() => accepted) }))
      expect((await auth.fetch(target(k, F))).status).toBe(200)
      await put('new')
      accepted = sent('new')
      expect((await auth.fetch(target(k, F))).status).toBe(200)
      expect((await auth.fetch(F)).status).toBe(200)
      expect(script.sent).toHaveLength(4)
    }
  })

  it('is read once by requests at the same time, and each of them is repeated', async () => {
    const { source, count } = counting()
    const token = { id: 'a', type: 'http', scheme: 'bearer', token: source, sendTo: DATA }
    let accepted = 'Bearer old'
    const { auth, script } = victim({ credentials: unchecked(token) }, routes({ [F]: guard(() => accepted) }))
    await auth.fetch(F)
    await put('new')
    accepted = 'Bearer new'
    const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await auth.fetch(F)).status))
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(script.sent).toHaveLength(41)
    expect(await readFile(count, 'utf8')).toBe('xx')
  })

  it('with the same value is refused for good, after one more reading and no more requests', async () => {
    const { source, count } = counting()
    const token = { id: 'a', type: 'http', scheme: 'bearer', token: source, sendTo: DATA }
    const { auth, script } = victim({ credentials: unchecked(token) }, routes({ [F]: { status: 401 } }))
    expect(await failureOf(auth.fetch(F))).toMatchObject({ code: 'AUTH_REJECTED', credential: 'a' })
    expect(script.sent).toHaveLength(1)
    expect(await readFile(count, 'utf8')).toBe('xx')
  })

  it('with a value that is refused as well is final: a request is repeated once', async () => {
    const token = { id: 'a', type: 'http', scheme: 'bearer', token: { file: path }, sendTo: DATA }
    let readings = 0
    const refuse = async (): Promise<Reply> => {
      await put(`new${++readings}`)
      return { status: 401 }
    }
    const { auth, script } = victim({ credentials: unchecked(token) }, routes({ [F]: refuse }))
    expect(await failureOf(auth.fetch(F))).toMatchObject({ code: 'AUTH_REJECTED' })
    expect(script.sent.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new1'])
  })

  it('is not read again after 403, and a source that fails then leaves the refusal', async () => {
    const token = { id: 'a', type: 'http', scheme: 'bearer', token: { file: path }, sendTo: DATA }
    const forbidden = victim({ credentials: unchecked(token) }, routes({ [F]: () => put('new').then(() => ({ status: 403 })) }))
    expect(await failureOf(forbidden.auth.fetch(F))).toMatchObject({ code: 'AUTH_REJECTED', status: 403 })
    expect(forbidden.script.sent).toHaveLength(1)
    const gone = victim({ credentials: unchecked(token) }, routes({ [F]: () => rm(path).then(() => ({ status: 401 })) }))
    expect(await failureOf(gone.auth.fetch(F))).toMatchObject({ code: 'AUTH_REJECTED', status: 401 })
  })

  it('is read again when a token endpoint or a signing API refuses it', async () => {
    let accepted = 'old'
    const answer =
      (body: object) =>
      (request: { readonly headers: Readonly<Record<string, string>> }): Reply =>
        [`Bearer ${accepted}`, `Basic ${Buffer.from(`app:${accepted}`).toString('base64')}`].includes(request.headers.authorization ?? '')
          ? { body }
          : { status: 401, body: { error: 'invalid_client' } }
    const client = { id: 'c', type: 'oauth2', flow: 'clientCredentials', tokenUrl: TOKEN_URL, clientId: 'app', sendTo: DATA }
    const signer = { id: 's', type: 'signedUrl', authorizationApi: SIGN_URL, method: 'GET', signedUrlHosts: DATA, with: 'a' }
    const entry = { id: 'a', type: 'http', scheme: 'bearer', token: { file: path }, sendTo: SIGN_URL }
    const servers = routes({
      [TOKEN_URL]: answer({ access_token: 't', token_type: 'Bearer' }),
      [SIGN_URL]: answer({ href: `${DATA}signed` }),
      [`${DATA}signed`]: {},
      [F]: {},
    })
    for (const [credentials, k] of [
      [[{ ...client, clientSecret: { file: path } }], scheme.client(TOKEN_URL)],
      [[entry, signer], scheme.signed(SIGN_URL)],
    ] as const) {
      await put('old')
      accepted = 'new'
      const { auth } = victim({ credentials: unchecked([...credentials]) }, servers)
      expect(await failureOf(auth.fetch(target(k, F)))).toHaveProperty('code')
      await put('new')
      expect((await auth.fetch(target(k, F))).status).toBe(200)
      const [refused, accepting, last] = servers.sent.slice(-3)
      const first = k.type === 'oauth2' ? TOKEN_URL : SIGN_URL
      expect([refused?.url, accepting?.url].map((url) => url?.split('?')[0])).toEqual([first, first])
      expect(last?.headers.authorization ?? last?.url).toBe(k.type === 'oauth2' ? 'Bearer t' : `${DATA}signed`)
    }
  })
})

describe('an attempt with secrets from sources', () => {
  const source = (values: readonly string[]) => {
    let index = 0
    return {
      reads: () => index,
      reader: {
        read: async () => values[0] ?? '',
        reading: 1,
        isNewer: async () => values[index++ + 1] !== undefined,
      },
    }
  }
  const matchOf = (fields: object) =>
    ({ credential: { id: 'a', type: 'x', sendTo: [], preference: 0, ...fields } }) as unknown as CredentialMatch
  const none = { credential: () => undefined }
  const answer = (status: number) => {
    const response = { status, discard: vi.fn(async () => {}) }
    return { response: response as unknown as HttpResponse & { discard: Mock } }
  }

  it('is not repeated after an error that says nothing about the credential', async () => {
    for (const error of [
      new NetworkError('NETWORK_RESET', 'reset'),
      new Error('OAUTH_ERROR'),
      new CredentialError('LOGIN_REQUIRED', 'login'),
    ]) {
      const { reader, reads } = source(['old', 'new'])
      const attempt = vi.fn(() => Promise.reject(error))
      await expect(withRereadSecrets(none, matchOf({ token: new Secret(reader) }), attempt)).rejects.toBe(error)
      expect([attempt.mock.calls.length, reads()]).toEqual([1, 0])
    }
  })

  it('is repeated after a refusal, whose response is discarded, and returns what the second one does', async () => {
    const { reader } = source(['old', 'new'])
    const [first, second] = [answer(401), answer(401)]
    const attempt = vi.fn().mockResolvedValueOnce(first).mockResolvedValueOnce(second)
    expect(await withRereadSecrets(none, matchOf({ parameters: new Map([['k', new Secret(reader)]]) }), attempt)).toBe(second)
    expect([first.response.discard.mock.calls.length, second.response.discard.mock.calls.length]).toEqual([1, 0])
    const refused = vi.fn().mockRejectedValueOnce(new CredentialError('AUTH_REJECTED', 'refused')).mockResolvedValueOnce(second)
    expect(await withRereadSecrets(none, matchOf({ token: new Secret(source(['old', 'new']).reader) }), refused)).toBe(second)
  })

  it('asks a source that was not read before for what is newer than its first value', async () => {
    const asked: number[] = []
    const reader = { reading: 0, read: async () => 'old', isNewer: async (than: number) => asked.push(than) > 1 }
    expect(await withRereadSecrets(none, matchOf({ token: new Secret(reader) }), async () => answer(401))).toBeDefined()
    expect(asked).toEqual([1])
  })

  it('is made once without such secrets, and when the flow sends nothing', async () => {
    const refused = answer(401)
    const attempt = vi.fn(async () => refused)
    expect(
      await withRereadSecrets(none, matchOf({ token: new Secret('text'), other: { reader: source(['a', 'b']).reader } }), attempt),
    ).toBe(refused)
    const silent = async () => undefined
    expect(await withRereadSecrets(none, matchOf({ token: new Secret(source(['a', 'b']).reader) }), silent)).toBeUndefined()
    expect(attempt).toHaveBeenCalledTimes(1)
  })
})
