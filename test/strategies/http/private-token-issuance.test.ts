import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { platform } from '#platform'
import { createAuth } from '../../../src/auth/create-auth.ts'
import { httpStrategy } from '../../../src/strategies/http/http-strategy.ts'
import type { TokenChallenge } from '../../../src/strategies/http/private-token.ts'
import { privateTokenWith } from '../../../src/strategies/http/schemes.ts'
import { defaultStrategies, httpWithTokenIssuer } from '../../../src/strategies/index.ts'
import { stepsOf, unauthorized, wordContext } from '../../harness/auth-flow.ts'
import { shown } from '../../harness/canary.ts'
import { target } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { type Answer, type AnsweringServer, startAnswering } from '../../servers/answering-server.ts'
import { blindRsa, startIssuer, startOrigin, type TokenKind, voprf } from '../../servers/privacy-pass.ts'
import {
  asksFor,
  type ChallengeFields,
  challengeBytes,
  ISSUER,
  issuerKey,
  padded,
  privateTokenChallenge,
  privateTokenGuard,
  REQUEST_PATH,
  readyToken,
  startTokenIssuer,
} from '../../servers/private-token-server.ts'
import { startProtectedFiles } from '../../servers/protected-files.ts'

const key = issuerKey()
/** The key of another issuer. */
const othersKey = issuerKey()
/** Made on first use, for all tests: keys take longer than what is tested with them. */
const made = new Map<() => Promise<TokenKind>, Promise<TokenKind>>()
function madeOnce(kind: () => Promise<TokenKind>): Promise<TokenKind> {
  const one = made.get(kind) ?? kind()
  made.set(kind, one)
  return one
}
/** The issuer says no, or its answer does not verify. */
const UNISSUED = /^(?:HTTP_422|AUTH_SERVER_UNPROVEN)$/
const servers: AnsweringServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

async function running<T extends AnsweringServer>(starting: Promise<T>): Promise<T> {
  const server = await starting
  servers.push(server)
  return server
}

const statuses = ({ exchanges }: AnsweringServer) => exchanges.map(({ answer }) => answer.status)
/** Node finds the package by itself; pages register it. */
const STRATEGIES = platform.optionalPackages
  ? defaultStrategies
  : [...defaultStrategies, httpWithTokenIssuer(() => import('@cloudflare/privacypass-ts'))]
const PRIVATE_TOKEN = { type: 'http', scheme: 'PrivateToken' } as const
const BEARER = { id: 'account', type: 'http', scheme: 'bearer', token: 'attested' }

/** Fetches the file of a server with tokens from an issuer, which takes requests of the account only. */
async function user(files: AnsweringServer, fields: object, account?: object) {
  const entry = { id: 'pass', type: 'http', scheme: 'privatetoken', issuerName: ISSUER, sendTo: `${files.origin}/`, ...fields }
  const credentials = unchecked(account ? [entry, { ...BEARER, ...account }] : [entry])
  const auth = createAuth({ credentials, strategies: STRATEGIES })
  return () => auth.fetch(target(PRIVATE_TOKEN, `${files.origin}/f.tif`))
}

const guarded = () => running(startProtectedFiles({ '/f.tif': { content: 'data', guard: privateTokenGuard({ key }) } }))

describe('tokens from an issuer', () => {
  it.each([
    ['VOPRF', voprf],
    ['Blind RSA', blindRsa],
  ])('tokens from an issuer are accepted by an origin that we did not write: %s', async (_name, kind) => {
    const mine = await madeOnce(kind)
    const [issuer, files] = [await running(startIssuer(mine)), await running(startOrigin(mine))]
    const fetched = await user(files, { issuerRequestUri: issuer.origin })
    expect(await (await fetched()).text()).toBe('data')
    const more = await Promise.all([fetched(), fetched()])
    expect(more.map(({ status }) => status)).toEqual([200, 200])
    expect(statuses(files).sort()).toEqual([200, 200, 200, 401, 401, 401])
    expect(issuer.exchanges).toHaveLength(3)
  })

  it('tokens from an issuer are requested in the name of another credential', async () => {
    const issuer = await running(startTokenIssuer(key, 'attested'))
    const files = await guarded()
    const fields = { issuerRequestUri: issuer.origin + REQUEST_PATH, with: 'account' }
    const fetched = await user(files, fields, { sendTo: `${issuer.origin}/` })
    expect(await (await fetched()).text()).toBe('data')
    const [exchange] = issuer.exchanges
    expect(exchange?.request).toMatchObject({ method: 'POST', path: REQUEST_PATH, headers: { authorization: 'Bearer attested' } })
    expect(files.exchanges.map(({ request }) => request.headers.authorization?.split(' ')[0])).toEqual([undefined, 'PrivateToken'])

    const wrong = await user(files, fields, { sendTo: `${issuer.origin}/`, token: 'wrong' })
    expect(await failureOf(wrong())).toMatchObject({ code: 'AUTH_REJECTED', status: 401, hint: expect.stringContaining('"with"') })
    expect(statuses(files)).toEqual([401, 200, 401])
  })

  it('tokens from an issuer are of no use from someone else', async () => {
    const issuer = await running(startTokenIssuer(othersKey))
    const files = await running(
      startProtectedFiles({ '/f.tif': { content: 'data', guard: privateTokenGuard({ key, tellsKey: false, fresh: false }) } }),
    )
    const challenge = challengeBytes({ origins: new URL(files.origin).host })
    const auth = createAuth({
      credentials: { type: 'http', scheme: 'privatetoken', token: readyToken(challenge, othersKey), sendTo: `${files.origin}/` },
    })
    expect(await failureOf(auth.fetch(target(PRIVATE_TOKEN, `${files.origin}/f.tif`)))).toMatchObject({ code: 'AUTH_REJECTED' })
    expect(statuses(files)).toEqual([401, 401])
    const fetched = await user(await guarded(), { issuerRequestUri: issuer.origin + REQUEST_PATH })
    // The last byte of a key id is all that the issuer is told of the key: by chance it may be the same.
    expect(await failureOf(fetched())).toMatchObject({ code: expect.stringMatching(UNISSUED) })
  })
})

describe('an origin that cheats', () => {
  const cheating = async (fields: ChallengeFields, spki: Uint8Array | undefined = key.spki) => {
    const issuer = await running(startTokenIssuer(key))
    const files: AnsweringServer = await running(
      startAnswering(({ headers }) => asksFor(challengeBytes({ origins: headers.host, context: randomBytes(32), ...fields }), spki)),
    )
    const fetched = await user(files, { issuerRequestUri: issuer.origin + REQUEST_PATH })
    return { issuer, files, error: await failureOf(fetched()) }
  }

  it.each<[string, ChallengeFields, string]>([
    ['another issuer', { issuerName: 'evil.example' }, 'the issuer evil.example instead of issuer.example'],
    ['the issuer on another port', { issuerName: `${ISSUER}:8443` }, 'the issuer issuer.example:8443 instead of issuer.example'],
    ['another origin', { origins: 'evil.example' }, 'for evil.example'],
    ['another type', { tokenType: 0xda7a }, 'unsupported token type 0xDA7A'],
  ])('an origin that cheats with %s gets no token, and the issuer no request', async (_name, fields, message) => {
    const { issuer, files, error } = await cheating(fields)
    expect(error).toMatchObject({ code: 'AUTH_CHALLENGE_UNSUPPORTED', message: expect.stringContaining(message) })
    expect(statuses(files)).toEqual([401])
    expect(issuer.connections).toBe(0)
  })

  // Nobody has the other half of this key: it is refused for its length.
  const modulus = Buffer.alloc(512, 0xc5).toString('base64url')
  const oversized = createPublicKey({ key: { kty: 'RSA', n: modulus, e: 'AQAB' }, format: 'jwk' }).export({ type: 'spki', format: 'der' })
  const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({ format: 'jwk' })
  const point = Buffer.concat([Buffer.from([2]), Buffer.from(p384.x ?? '', 'base64url')])
  it.each<[string, number, Uint8Array]>([
    ['text', 2, Buffer.from('key')],
    ['RSA with 4096 bits', 2, oversized],
    ['a point', 2, point],
    ['RSA', 1, key.spki],
  ])('an origin that cheats with a key that is %s, for type %i, gets no token', async (_name, tokenType, spki) => {
    const { issuer, error } = await cheating({ tokenType }, spki)
    expect(error).toMatchObject({ code: 'AUTH_CHALLENGE_UNSUPPORTED', message: expect.stringContaining('"token-key"') })
    expect(issuer.connections).toBe(0)
  })

  it.each([
    ['VOPRF', voprf],
    ['Blind RSA', blindRsa],
  ])('an origin that cheats with the key of another party gets no token: %s', async (_name, kind) => {
    const [mine, theirs] = [await madeOnce(kind), await kind()]
    const issuer = await running(startIssuer(mine))
    const files = await running(startOrigin({ ...mine, tokenKey: theirs.tokenKey }))
    const fetched = await user(files, { issuerRequestUri: issuer.origin })
    // What was blinded for a larger modulus may not fit into the issuer's own.
    expect(await failureOf(fetched())).toMatchObject({ code: expect.stringMatching(UNISSUED) })
    expect(statuses(files)).toEqual([401])
  })

  it('an origin that cheats without a key gets no token', async () => {
    const issuer = await running(startTokenIssuer(key))
    const files = await running(startAnswering(({ headers }) => asksFor(challengeBytes({ origins: headers.host }))))
    const fetched = await user(files, { issuerRequestUri: issuer.origin + REQUEST_PATH })
    expect(await failureOf(fetched())).toMatchObject({
      code: 'AUTH_CHALLENGE_UNSUPPORTED',
      message: expect.stringContaining('"token-key"'),
    })
  })

  it('an origin that cheats with new challenges without end gets one token', async () => {
    const { issuer, files, error } = await cheating({})
    expect(error).toMatchObject({ code: 'AUTH_REJECTED', status: 401 })
    expect(statuses(files)).toEqual([401, 401])
    expect(issuer.exchanges).toHaveLength(1)
  })
})

describe('an issuer that cheats', () => {
  it.each<[string, Answer, string]>([
    ['a signature of something else', { status: 200, body: randomBytes(256) }, 'AUTH_SERVER_UNPROVEN'],
    ['too little', { status: 200, body: randomBytes(255) }, 'AUTH_SERVER_UNPROVEN'],
    ['nothing', { status: 200 }, 'AUTH_SERVER_UNPROVEN'],
    ['too much', { status: 200, body: randomBytes(4096) }, 'RESPONSE_TOO_LARGE'],
    ['another address', { status: 307, headers: { location: 'https://evil.example/' } }, 'HTTP_307'],
    ['no', { status: 403 }, 'AUTH_REJECTED'],
    ['nothing now', { status: 503 }, 'HTTP_503'],
  ])('an issuer that cheats and answers with %s leaves the file closed', async (_name, answer, code) => {
    const issuer = await running(startAnswering(() => answer))
    const files = await guarded()
    const fetched = await user(files, { issuerRequestUri: issuer.origin })
    expect(await failureOf(fetched())).toMatchObject({ code })
    expect(statuses(files)).toEqual([401])
  })
})

describe('a function that gives tokens', () => {
  it('a function that gives tokens gets the challenge, and its surplus is used later', async () => {
    const asked: TokenChallenge[] = []
    const issuer = async (challenge: TokenChallenge) => {
      asked.push(challenge)
      return `${readyToken(challenge.bytes, key)} ${readyToken(challenge.bytes, key)}`
    }
    const files = await running(startProtectedFiles({ '/f.tif': { content: 'data', guard: privateTokenGuard({ key, fresh: false }) } }))
    const fetched = await user(files, { issuer })
    for (const _time of [1, 2, 3]) expect(await (await fetched()).text()).toBe('data')
    expect(asked).toHaveLength(2)
    expect(asked[0]).toMatchObject({ tokenType: 2, issuerName: ISSUER, originInfo: [new URL(files.origin).host] })
    expect(createPublicKey({ key: Buffer.from(asked[0]?.tokenKey ?? []), format: 'der', type: 'spki' }).asymmetricKeyType).toBe('rsa-pss')
  })

  const failing: readonly [string, () => unknown, string, string][] = [
    ['fails', () => Promise.reject(new Error('canary: text!')), 'CREDENTIAL_SOURCE', 'issuer of "pass": its function failed'],
    ['gives no text', () => 7, 'CREDENTIAL_VALUE_INVALID', 'issuer of "pass" is not text'],
    ['gives no token', () => 'canary: text!', 'CREDENTIAL_VALUE_INVALID', 'issuer of "pass" is not a token in base64url'],
    ['gives one for something else', () => readyToken(randomBytes(40), key), 'CREDENTIAL_SOURCE', 'the issuer returned no new token'],
    ['gives half of one', () => padded(Buffer.alloc(98, 2)), 'CREDENTIAL_VALUE_INVALID', 'has an unsupported token type'],
  ]
  it.each(failing)('a function that gives tokens that %s leaves the file closed', async (_name, issuer, code, message) => {
    const files = await guarded()
    const error = await failureOf((await user(files, { issuer }))())
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) })
    expect(shown(error)).not.toContain('canary: text!')
    expect(statuses(files)).toEqual([401])
  })

  it('a function that gives tokens is not called for another issuer', async () => {
    const files = await guarded()
    let calls = 0
    const fetched = await user(files, { issuerName: 'mine.example', issuer: () => String(calls++) })
    const message = expect.stringContaining('the issuer issuer.example instead of mine.example')
    expect(await failureOf(fetched())).toMatchObject({ code: 'AUTH_CHALLENGE_UNSUPPORTED', message })
    expect(calls).toBe(0)
  })
})

it('a page that has not registered token issuers is told how to, before anything is sent', async () => {
  const files = await guarded()
  const credential = { id: 'pass', type: 'http', scheme: 'privatetoken', sendTo: `${files.origin}/` }
  const wanted = target(PRIVATE_TOKEN, `${files.origin}/f.tif`)
  const strategies = [{ type: 'http', load: async () => httpStrategy([privateTokenWith(undefined)]) }] as const
  const auth = createAuth({
    credentials: unchecked([{ ...credential, issuerName: ISSUER, issuerRequestUri: 'https://issuer.example/' }]),
    strategies,
  })
  const told = { code: 'SCHEME_UNSUPPORTED', hint: expect.stringContaining("'stac-auth/strategies'") }
  expect(await failureOf(auth.fetch(wanted))).toMatchObject(told)
  expect(files.exchanges).toEqual([])
})

it('reports which package is missing', async () => {
  const load = () => Promise.reject(new Error('not installed'))
  const context = wordContext('privatetoken', { issuerName: ISSUER, issuerRequestUri: 'https://issuer.example/' })
  const asks = unauthorized(privateTokenChallenge(challengeBytes({}), key.spki))
  const steps = stepsOf(privateTokenWith(load).authorize({ method: 'GET', url: 'https://data.example/', headers: {} }, context), [asks])
  expect(await failureOf(steps)).toMatchObject({
    name: 'UnsupportedError',
    code: 'SCHEME_UNSUPPORTED',
    hint: 'npm install @cloudflare/privacypass-ts',
  })
})
