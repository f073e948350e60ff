import { describe, expect, it } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import { privateToken } from '../../../src/strategies/http/schemes.ts'
import { readyStep, stepsOf, unauthorized, wordContext } from '../../harness/auth-flow.ts'
import { canaryOf, leaks, shown } from '../../harness/canary.ts'
import { failureOf } from '../../harness/failure.ts'
import type { Reply } from '../../harness/scripted.ts'
import { unchecked } from '../../harness/unchecked.ts'
import {
  type ChallengeFields,
  challengeBytes,
  ISSUER,
  issuerKey,
  padded,
  privateTokenChallenge,
  readyToken,
} from '../../servers/private-token-server.ts'

const key = issuerKey()
const other = issuerKey()
const CHALLENGE = challengeBytes({ origins: 'data.example' })
const ready = (challenge: Uint8Array = CHALLENGE) => readyToken(challenge, key)
const get = (url = 'https://data.example/f.tif') => ({ method: 'GET', url, headers: { accept: '*/*' } })
const asks = (challenge: Uint8Array = CHALLENGE, spki: Uint8Array | undefined = key.spki, more = '') =>
  unauthorized(privateTokenChallenge(challenge, spki, more))
const context = (fields: Readonly<Record<string, unknown>>) => wordContext('privatetoken', fields)
const sent = async (of: ReturnType<typeof context>, replies: readonly Reply[] = [asks()], url?: string) =>
  (await stepsOf(privateToken.authorize(get(url), of), replies)).map(({ request }) => request.headers.authorization)
const refusal = (replies: readonly Reply[], fields: Readonly<Record<string, unknown>> = { token: ready() }) =>
  failureOf(sent(context(fields), replies))

describe('privatetoken with ready tokens', () => {
  it('asks first, then redeems, until the end that the server tells', async () => {
    const token = ready()
    const step = await readyStep(privateToken.authorize(get(), context({ token })), [asks(CHALLENGE, key.spki, ', max-age=60')])
    expect(step).toEqual({
      kind: 'authorized',
      request: { ...get(), headers: { accept: '*/*', authorization: `PrivateToken token="${token}"` } },
      expiresAt: 1_800_000_060_000,
    })
  })

  it.each([
    ['base64url without padding', (text: string) => text.replace(/=+$/, '')],
    ['base64', (text: string) => text.replaceAll('-', '+').replaceAll('_', '/')],
  ])('reads challenges in %s', async (_name, written) => {
    const text = privateTokenChallenge(CHALLENGE, key.spki).replace(/(?<==")[^"]+/g, written)
    expect(await sent(context({ token: ready() }), [unauthorized(text)])).toHaveLength(2)
  })

  it('sends each token once, also to requests at the same time', async () => {
    const tokens = [ready(), ready(), ready()]
    const shared = context({ token: `${tokens.slice(0, 2).join(' ')}\n${tokens[2]}\n` })
    const flows = await Promise.all([1, 2, 3].map(() => sent(shared)))
    expect(new Set(flows.map(([, header]) => header))).toEqual(new Set(tokens.map((token) => `PrivateToken token="${token}"`)))
    expect(await failureOf(sent(shared))).toMatchObject({
      name: 'CredentialError',
      code: 'CREDENTIAL_SOURCE',
      message: '"mine" has no token to send: all tokens were sent before, and each is for one request',
    })
  })

  it('takes new tokens from a function, and refuses one that comes again', async () => {
    const tokens = [ready(), ready()]
    const given = [...tokens, tokens[1]]
    const shared = context({ token: () => given.shift() })
    expect((await sent(shared))[1]).toContain(tokens[0])
    expect((await sent(shared))[1]).toContain(tokens[1])
    expect(await failureOf(sent(shared))).toMatchObject({ code: 'CREDENTIAL_SOURCE' })
  })

  it('answers the challenge that it has a token for, in whatever place it stands', async () => {
    const unknown = challengeBytes({ tokenType: 0xda7a })
    const second = challengeBytes({ issuerName: 'second.example' })
    const all = [unknown, CHALLENGE, second].map((challenge) => privateTokenChallenge(challenge, key.spki)).join(', ')
    expect((await sent(context({ token: ready(second) }), [unauthorized(`Basic realm="x", ${all}`)]))[1]).toMatch(/^PrivateToken token=/)
  })

  it.each([
    ['https://data.example:443/f', 'data.example'],
    ['https://data.example/f', 'other.example,DATA.example:443'],
    ['https://data.example:8443/f', 'data.example:8443'],
    ['http://127.0.0.1/f', '127.0.0.1:80'],
    ['http://127.0.0.1/f', '127.0.0.1'],
    ['https://[::1]:1/f', '[::1]:1'],
    ['https://anything.example/f', ''],
  ])('redeems at %s what is for "%s"', async (url, origins) => {
    const challenge = challengeBytes({ origins })
    expect(await sent(context({ token: ready(challenge) }), [asks(challenge)], url)).toHaveLength(2)
  })

  it('sends nothing of its own where nothing is asked', async () => {
    const shared = context({ token: ready() })
    for (const status of [200, 403, 404]) expect(await sent(shared, [{ status }])).toEqual([undefined])
    expect(await sent(shared)).toHaveLength(2)
  })

  it('does not try again what was refused', async () => {
    const shared = context({ token: `${ready()} ${ready()}` })
    expect(await sent(shared, [asks(), asks(), asks()])).toHaveLength(2)
  })

  it('does not send a token for another challenge, or from another key', async () => {
    const message = expect.stringContaining('no token of "mine" was issued for this challenge')
    const wanted = { code: 'AUTH_CHALLENGE_UNSUPPORTED', message }
    expect(await refusal([asks(challengeBytes({ origins: 'data.example', context: new Uint8Array(32) }))])).toMatchObject(wanted)
    expect(await refusal([asks(CHALLENGE, other.spki)])).toMatchObject(wanted)
  })

  it.each<[string, string, string]>([
    ['text that is no base64url', 'no token', 'is not a token in base64url'],
    ['a single byte', 'AA==', 'is not a token in base64url'],
    ['a token of another type', padded(Buffer.concat([Buffer.from([0xda, 0x7a]), Buffer.alloc(352)])), 'has an unsupported token type'],
    ['half a token', padded(Buffer.from(ready(), 'base64url').subarray(0, 98)), 'has 98 bytes; a token of type 0x0002 has 354'],
    ['a token with more behind it', padded(Buffer.concat([Buffer.from(ready(), 'base64url'), Buffer.alloc(1)])), 'has 355 bytes'],
    ['a good one and a bad one', `${ready()} AA==`, 'is not a token in base64url'],
  ])('refuses %s before anything is sent', async (_name, token, problem) => {
    const error = await refusal([], { token })
    expect(error).toMatchObject({ code: 'CREDENTIAL_VALUE_INVALID', message: expect.stringContaining(`token of "mine" ${problem}`) })
    if (token.length > 20) expect(leaks([canaryOf(token.slice(-20))], { error: shown(error) })).toEqual([])
  })
})

describe('privatetoken against a server that requests something else', () => {
  const cut = (bytes: number) => CHALLENGE.subarray(0, bytes)
  const long = (fields: ChallengeFields) => challengeBytes({ origins: 'data.example', ...fields })

  it.each<[string, Reply, string]>([
    ['a token for another origin', asks(long({ origins: 'evil.example,b.example' })), 'for evil.example, b.example'],
    ['a token for another port', asks(long({ origins: 'data.example:444' })), 'for data.example:444'],
    ['a token for what is no origin', asks(long({ origins: 'a@data.example,data.example/,,' })), 'the token would be for'],
    ['an unknown type', asks(long({ tokenType: 0xda7a })), 'unsupported token type 0xDA7A'],
    ['a type that nobody has', asks(Buffer.from('ffff', 'hex')), 'unsupported token type 0xFFFF'],
    ['no challenge', unauthorized('PrivateToken token-key="AAAA"'), 'its "challenge" is missing or malformed'],
    ['a challenge with blanks', unauthorized('PrivateToken challenge="AA AA"'), 'its "challenge" is missing or malformed'],
    ['a key with blanks', unauthorized(`${privateTokenChallenge(CHALLENGE)}, token-key="A A"`), 'its "token-key" is malformed'],
    ['no end', asks(CHALLENGE, key.spki, ', max-age=soon'), 'its "max-age" is malformed'],
    ['an end far away', asks(CHALLENGE, key.spki, ', max-age=99999999999'), 'its "max-age" is malformed'],
    ['a byte too many', asks(Buffer.concat([CHALLENGE, Buffer.alloc(1)])), 'its "challenge" is malformed'],
    ['an issuer without a name', asks(long({ issuerName: '' })), 'its "challenge" is malformed'],
    ['an issuer with a line break', asks(long({ issuerName: 'a\nb' })), 'its "challenge" is malformed'],
    ['a context of 31 bytes', asks(long({ context: new Uint8Array(31) })), 'its "challenge" is malformed'],
    ['a context of 33 bytes', asks(long({ context: new Uint8Array(33) })), 'its "challenge" is malformed'],
    ['64 kB', unauthorized(privateTokenChallenge(Buffer.alloc(49_152, 1))), 'longer than 8192 bytes'],
    ['another scheme', unauthorized('Basic realm="x"'), 'Basic (realm "x")'],
    ...[1, 3, 4, 17, 18, 19, 20, CHALLENGE.length - 1].map(
      (bytes) => [`${bytes} bytes of a challenge`, asks(cut(bytes)), 'malformed'] satisfies [string, Reply, string],
    ),
  ])('does not answer %s', async (_name, reply, message) => {
    const error = await refusal([reply])
    expect(error).toMatchObject({ name: 'ChallengeError', code: 'AUTH_CHALLENGE_UNSUPPORTED', message: expect.stringContaining(message) })
  })

  it('reports each reason once, and not without end', async () => {
    const all = Array.from({ length: 12 }, (_, index) => privateTokenChallenge(challengeBytes({ tokenType: 0xff00 + (index >> 1) }))).join(
      ', ',
    )
    const error = await refusal([unauthorized(all)])
    expect(String(error.message).match(/unsupported token type/g)).toHaveLength(4)
    expect((await refusal([asks(long({ origins: 'x'.repeat(500) }))])).message.length).toBeLessThan(250)
  })
})

describe('credentials of privatetoken', () => {
  const entry = { id: 'x', type: 'http', scheme: 'privatetoken', sendTo: 'https://data.example/' }
  const issuerRequestUri = 'https://issuer.example/token-request'
  const issuer = async () => ''
  const bearer = { id: 'b', type: 'http', scheme: 'bearer', token: 't', sendTo: 'https://issuer.example/' }

  it.each<[string, object, string]>([
    ['nothing', {}, '/token'],
    ['a token and an issuer', { token: 't', issuerName: ISSUER }, '/token'],
    ['an issuer without a name', { issuer }, '/issuerName'],
    ['an address without a name', { issuerRequestUri }, '/issuerName'],
    ['a name alone', { issuerName: ISSUER }, '/issuerRequestUri'],
    ['an address and a function', { issuerName: ISSUER, issuerRequestUri, issuer }, '/issuerRequestUri'],
    ['an address that is not secure', { issuerName: ISSUER, issuerRequestUri: 'http://issuer.example/' }, '/issuerRequestUri'],
    ['a function that is none', { issuerName: ISSUER, issuer: 'f' }, '/issuer'],
    ['an entry for a function', { issuerName: ISSUER, issuer, with: 'b' }, '/with'],
    ['an entry that is not there', { issuerName: ISSUER, issuerRequestUri, with: 'c' }, '/with'],
    ['an entry for another place', { issuerName: ISSUER, issuerRequestUri: 'https://other.example/', with: 'b' }, '/with'],
  ])('credentials of privatetoken cannot hold %s', async (_name, fields, at) => {
    const error = await failureOf(createAuth({ credentials: unchecked([{ ...entry, ...fields }, bearer]) }).fetch('https://data.example/'))
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', pointer: `/credentials/0${at}` })
  })
})
