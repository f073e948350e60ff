import { createPublicKey } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import { hoba } from '../../../src/strategies/http/schemes.ts'
import { readyStep, stepsOf, unauthorized, wordContext } from '../../harness/auth-flow.ts'
import { canaryOf, leaks, shown } from '../../harness/canary.ts'
import { target } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { testKey } from '../../harness/keys.ts'
import type { Reply } from '../../harness/scripted.ts'
import { unchecked } from '../../harness/unchecked.ts'
import type { AnsweringServer } from '../../servers/answering-server.ts'
import { type HobaOptions, hobaGuard, isHoba } from '../../servers/hoba-guard.ts'
import { isSignature } from '../../servers/jws.ts'
import { startProtectedFiles } from '../../servers/protected-files.ts'

/** RFC 7486 Appendix B. */
const RFC = {
  spki:
    'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAviE8fMrGIPZN9up94M286o38B99fsz5cUqYHXXJlnHIi6gGKjqLgn3P7n4snUSQswLExrkhSr0TPhRDuPH_t' +
    'fXLKLBbh17ofB7t7shnPKxmyZ69hCLbe7pB1HvaBzTxPC2KOqskDiDBOQ6-JLHQ8egXB14W-641RQt0CsC5nXzo92kPCdV4NZ45MW0ws3twCIUDCH0nibIG9SorrBbCl' +
    'DPHQZS5Dk5pgS7P5hrAr634Zn4bzXhUnm7cON2x4rv83oqB3lRqjF4T9exEMyZBSL26m5KbK860uSOKywI0xp4ymnHMc6Led5qfEMnJC9PEI90tIMcgdHrmdHC_vpldG' +
    'DQIDAQAB',
  fields: {
    nonce: 'Pm3yUW-sW5Q',
    alg: '0',
    origin: 'https://example.com:443',
    realm: '',
    kid: 'vesscamS2Kze4FFOg3e2UyCJPhuQ6_3_gzN-k_L6t3w',
    challenge: 'pUE77w0LylHypHKhBqAiQHuGC751GiOVv4/7pSlo9jc=',
  },
  signature:
    'VD-0LGVBVEVjfq4xEd35FjnOrIqzJ2OQMx5w8E52dgVvxFD6R0ryEsHcD31ykh0i4YIzIHXirx7bE4x9yP-9fMBCEwnHJsYwYQhfRpmScwAz-Ih1Hn4yORTb-U66miUz' +
    'q04ZgTHm4jAj45afU20wYpGXY2r3W-FRKc6J6Glv_zI_ROghERalxgXG-QVGZrKPtG0V593Yf9IPnFSpLyW6fnxscCMWUA9T-4NjMdypI-Ze4HsC9J06tRTOunQdofr9' +
    '6ZJ2i9LE6uKSUDLCD2oeEeSEvUR--4OGtrgjzYysHZkdVSxAi7OoQBK34EUWg9kIS13qQA43m4IMExkbApqrSg',
  signed:
    '11:Pm3yUW-sW5Q1:023:https://example.com:4430:43:vesscamS2Kze4FFOg3e2UyCJPhuQ6_3_gzN-k_L6t3w44:pUE77w0LylHypHKhBqAiQHuGC751GiOVv4/' +
    '7pSlo9jc=',
}

const key = testKey.rsa()
const entry = { privateKey: key.pem, keyId: RFC.fields.kid }
const get = (url = 'https://example.com/f.tif') => ({ method: 'GET', url, headers: { accept: '*/*' } })
const asks = (challenge = 'abc', maxAge: string | number = 60, more = '') =>
  unauthorized(`HOBA challenge="${challenge}", max-age=${maxAge}${more}`)
const header = (step: { request: { headers: Readonly<Record<string, string>> } } | undefined) => step?.request.headers.authorization

describe('hoba', () => {
  it('signs what RFC 7486 Appendix B signs', async () => {
    const random = () => Buffer.from(RFC.fields.nonce, 'base64url')
    const steps = await stepsOf(hoba.authorize(get(), wordContext('hoba', entry, { random })), [asks(RFC.fields.challenge)])
    expect(steps.map(({ kind }) => kind)).toEqual(['handshake', 'authorized'])
    expect(steps[0]?.request).toEqual(get())
    const start = `HOBA result="${RFC.fields.kid}.${RFC.fields.challenge}.${RFC.fields.nonce}.`
    const sent = header(steps[1]) ?? ''
    expect(sent.startsWith(start)).toBe(true)
    const signature = sent.slice(start.length, -1)
    expect(isSignature(RFC.signed, key.publicKey, Buffer.from(signature, 'base64url'))).toBe(true)
  })

  it('hoba is verified by what verifies the example, and refuses it with any part changed', () => {
    const publicKey = createPublicKey({ key: Buffer.from(RFC.spki, 'base64url'), format: 'der', type: 'spki' })
    expect(isHoba(RFC.fields, publicKey, RFC.signature)).toBe(true)
    for (const name of Object.keys(RFC.fields)) {
      expect(isHoba({ ...RFC.fields, [name]: 'x' }, publicKey, RFC.signature)).toBe(false)
    }
  })

  it.each([
    ['https://a.example/x', 'https://a.example:443'],
    ['https://a.example:8443/', 'https://a.example:8443'],
    ['http://127.0.0.1/', 'http://127.0.0.1:80'],
    ['https://[::1]:1/', 'https://[::1]:1'],
  ])('signs the origin of %s with its port, and the realm', async (url, origin) => {
    const steps = await stepsOf(hoba.authorize(get(url), wordContext('hoba', entry)), [asks('abc', 60, ', realm="M\\"x"')])
    const [, kid = '', challenge = '', nonce = '', signature = ''] =
      /^HOBA result="([^."]+)\.([^."]+)\.([^."]+)\.([^."]+)"$/.exec(header(steps[1]) ?? '') ?? []
    expect(isHoba({ nonce, alg: '0', origin, realm: 'M"x', kid, challenge }, key.publicKey, signature)).toBe(true)
  })

  it('uses a challenge until its end, with a new nonce each time', async () => {
    let now = 1_800_000_000_000
    const context = wordContext('hoba', entry, { clock: { now: () => now } })
    const first = await readyStep(hoba.authorize(get(), context), [asks('one', 100)])
    expect(first?.expiresAt).toBe(now + 100_000)
    const again = await stepsOf(hoba.authorize(get('https://example.com/other'), context))
    expect(again).toHaveLength(1)
    expect(header(again[0])).toContain('.one.')
    expect(header(again[0])).not.toBe(header(first))
    expect(await stepsOf(hoba.authorize(get('https://other.example/'), context))).toHaveLength(1)
    now += 100_001
    const later = await stepsOf(hoba.authorize(get(), context), [asks('two')])
    expect(later.map(({ kind }) => kind)).toEqual(['handshake', 'authorized'])
  })

  it('answers once more when the server has forgotten a challenge, and only once', async () => {
    const context = wordContext('hoba', entry)
    await stepsOf(hoba.authorize(get(), context), [asks('one')])
    const challenges = async (...replies: Reply[]) =>
      (await stepsOf(hoba.authorize(get(), context), replies)).map(header).map((text) => text?.split('.')[1])
    expect(await challenges(asks('two'))).toEqual(['one', 'two'])
    expect(await challenges(asks('three'), asks('four'), asks('five'))).toEqual(['two', 'three'])
    expect(await challenges(asks('six'))).toEqual([undefined, 'six'])
    expect(await stepsOf(hoba.authorize(get(), wordContext('hoba', entry)), [asks('one'), asks('two'), asks('three')])).toHaveLength(2)
  })

  it.each([
    ['max-age is 0', asks('one', 0), {}],
    ['it was refused', asks('one', 60), asks('two', 60)],
  ])('keeps no challenge when %s', async (_name, first, second) => {
    const context = wordContext('hoba', entry)
    const steps = await stepsOf(hoba.authorize(get(), context), [first, second])
    expect(steps).toHaveLength(2)
    expect((await stepsOf(hoba.authorize(get(), context), [asks('new')])).map(({ kind }) => kind)).toEqual(['handshake', 'authorized'])
  })

  it('sends nothing of its own where nothing is asked', async () => {
    for (const status of [200, 403, 404]) {
      expect(await stepsOf(hoba.authorize(get(), wordContext('hoba', entry)), [{ status }])).toHaveLength(1)
    }
    expect(await readyStep(hoba.authorize(get(), wordContext('hoba', entry)))).toBeUndefined()
  })

  it.each([
    ['no challenge', 'HOBA max-age=1', 'challenge'],
    ['a challenge with dots', 'HOBA challenge="a.b", max-age=1', 'challenge'],
    ['a challenge with quotes', 'HOBA challenge="a\\"b", max-age=1', 'challenge'],
    ['no age', 'HOBA challenge="a"', 'max-age'],
    ['an age without end', 'HOBA challenge="a", max-age=99999999999', 'max-age'],
    ['an age below zero', 'HOBA challenge="a", max-age=-1', 'max-age'],
    ['another scheme', 'Basic realm="x"', 'Basic'],
  ])('does not answer a server that sends %s', async (_name, challenge, word) => {
    const error = await failureOf(stepsOf(hoba.authorize(get(), wordContext('hoba', entry)), [unauthorized(challenge)]))
    expect(error).toMatchObject({ name: 'ChallengeError', code: 'AUTH_CHALLENGE_UNSUPPORTED', message: expect.stringContaining(word) })
  })

  it('needs a key identifier that fits into the answer, and an RSA key', async () => {
    const credentials = { type: 'http', scheme: 'hoba', privateKey: key.pem, keyId: 'a.b', sendTo: 'https://example.com/' }
    const wanted = target({ type: 'http', scheme: 'hoba' }, 'https://example.com/')
    expect(await failureOf(createAuth({ credentials: unchecked(credentials) }).authorize(wanted))).toMatchObject({
      code: 'CONFIG_INVALID',
      pointer: '/credentials/0/keyId',
    })
    const other = wordContext('hoba', { ...entry, privateKey: testKey.p256().pem })
    expect(await failureOf(stepsOf(hoba.authorize(get(), other)))).toMatchObject({ code: 'CREDENTIAL_VALUE_INVALID' })
  })
})

describe('hoba against a server', () => {
  const servers: AnsweringServer[] = []
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close()
  })

  async function engine(options: HobaOptions = {}, fields: object = entry) {
    const guard = hobaGuard(new Map([[entry.keyId, key.publicKey]]), options)
    const server = await startProtectedFiles({ '/f.tif': { content: 'data', guard } })
    servers.push(server)
    const auth = createAuth({ credentials: unchecked({ type: 'http', scheme: 'hoba', sendTo: `${server.origin}/`, ...fields }) })
    return { server, fetched: () => auth.fetch(target({ type: 'http', scheme: 'HOBA' }, `${server.origin}/f.tif`)) }
  }

  const statuses = ({ exchanges }: AnsweringServer) => exchanges.map(({ answer }) => answer.status)

  it.each([
    ['again and again', {}, [401, 200, 200]],
    ['in a realm', { realm: 'files, a=b' }, [401, 200, 200]],
    ['once for each challenge', { maxAge: 0 }, [401, 200, 401, 200]],
  ])('hoba against a server opens %s', async (_name, options, wanted) => {
    const { server, fetched } = await engine(options, { ...entry, privateKey: key.jwk })
    expect(await (await fetched()).text()).toBe('data')
    expect(await (await fetched()).text()).toBe('data')
    expect(statuses(server)).toEqual(wanted)
  })

  it('hoba with another key is refused by a server', async () => {
    const privateKey = testKey.rsa().pem
    const { server, fetched } = await engine({}, { ...entry, privateKey })
    const error = await failureOf(fetched())
    expect(error).toMatchObject({ code: 'AUTH_REJECTED', status: 401 })
    expect(leaks([canaryOf(privateKey.slice(40, 80))], { error: shown(error) })).toEqual([])
    expect(statuses(server)).toEqual([401, 401])
  })
})
