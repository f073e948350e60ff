import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { ProtectionSpaces } from '../../../src/strategies/http/digest.ts'
import type { HttpContext } from '../../../src/strategies/http/http-strategy.ts'
import { digest } from '../../../src/strategies/http/schemes.ts'
import { readyStep, unauthorized } from '../../harness/auth-flow.ts'
import { failureOf } from '../../harness/failure.ts'
import type { Reply } from '../../harness/scripted.ts'
import { challenge, contextFor, fields, get, MUFASA, ok, parse, sent } from './digest-steps.ts'

describe('a challenge', () => {
  const answered = async (challenges: string, algorithms?: readonly string[]) =>
    (await fields(contextFor({ ...MUFASA, algorithms }), [unauthorized(challenges)])).nonce
  const three = ['MD5', 'sha-512-256', 'SHA-256'].map((name) => `Digest realm=r, nonce="${name}", qop=auth, algorithm=${name}`).join(', ')

  it('a challenge is the strongest one that the credential allows', async () => {
    expect(await answered(three)).toBe('sha-512-256')
    expect(await answered(three, ['MD5', 'SHA-256'])).toBe('SHA-256')
    expect(await answered(three, ['MD5'])).toBe('MD5')
    expect(await answered(`Basic realm="x", Digest realm=r, nonce=n, algorithm=SHA-1, ${three}`)).toBe('sha-512-256')
  })

  it.each([
    ['Basic realm="other"', 'https://data.example does not offer Digest, which credential "mine" is for: it offers Basic (realm "other")'],
    ['Digest realm="x", nonce="n", algorithm=SHA-1', 'it offers Digest with SHA-1, and the credential allows SHA-512-256, SHA-256, MD5'],
    ['Digest nonce="n", qop=auth', 'it lacks "realm"'],
    ['Digest realm="x", qop=auth', 'it lacks "nonce"'],
    ['Digest qop=auth', 'it lacks "realm"'],
    ['Digest realm="x", nonce="n", qop="other"', 'its "qop" has neither auth nor auth-int'],

    ['Digest realm="x", nonce="n", qop=auth, algorithm=""', 'it offers Digest with , and the credential allows SHA-512-256'],
    ['Digest realm="x", nonce="n", algorithm=MD5-sess', 'its "qop" has neither auth nor auth-int'],
    ['Digest realm="x", nonce="n", qop=auth, algorithm=MD5, Digest realm="x", algorithm=SHA-256', 'it lacks "nonce"'],
    ['Digest realm="a\u0007b", nonce="n"', 'it offers no readable challenge; the value of a parameter is malformed'],
    ['Digest realm="x", nonce="n", nonce="m"', 'a challenge names the parameter "nonce" twice'],
    [`Digest realm="${'x'.repeat(8192)}", nonce="n"`, 'the line is longer than 8192 bytes'],
    ['', 'it offers no readable challenge'],
  ])('a challenge of unusable kind %# is not answered', async (line, why) => {
    const work = sent(contextFor({ ...MUFASA, algorithms: undefined }), [unauthorized(line)])
    expect(await failureOf(work)).toMatchObject({ code: 'AUTH_CHALLENGE_UNSUPPORTED', message: expect.stringContaining(why) })
  })

  it('a challenge with an empty list of qop is answered as one without', async () => {
    const answer = await fields(contextFor(MUFASA), [challenge('nonce=n, qop=""')])
    expect(answer).toEqual(await fields(contextFor(MUFASA), [challenge('nonce=n')]))
    expect(answer.qop).toBeUndefined()
    expect(await fields(contextFor(MUFASA), [challenge('nonce=n, qop=" "')])).toEqual(answer)
  })

  it('a challenge without opaque is answered without it', async () => {
    const answer = await fields(contextFor(MUFASA), [challenge('nonce=n, qop=auth, charset=UTF-8')])
    expect(Object.keys(answer)).toEqual(['username', 'realm', 'uri', 'nonce', 'qop', 'nc', 'cnonce', 'response'])
  })

  it('a challenge that the credential does not allow is not answered', async () => {
    const work = sent(contextFor({ ...MUFASA, algorithms: ['SHA-256'] }), [challenge('nonce=n, qop=auth')])
    expect(await failureOf(work)).toMatchObject({
      message: expect.stringContaining('offers Digest with MD5, and the credential allows SHA-256'),
    })
  })

  it('a challenge that is weaker than the last one of its realm is not answered', async () => {
    const strong = 'nonce=n, qop=auth, algorithm=SHA-256'
    const weak = 'nonce=m, qop=auth, stale=true'
    const work = sent(contextFor(MUFASA), [challenge(strong), challenge(weak)])
    expect(await failureOf(work)).toMatchObject({
      code: 'AUTH_CHALLENGE_UNSUPPORTED',
      message: expect.stringContaining('it required a stronger algorithm than MD5 before'),
    })
    expect(await sent(contextFor(MUFASA), [challenge(strong), challenge(weak.replace('MD5', 'SHA-512-256'), 'another')])).toHaveLength(3)
  })

  it('a challenge is needed: without one the flow ends', async () => {
    for (const status of [200, 304, 403, 404, 500]) expect(await sent(contextFor(MUFASA), [{ status }])).toEqual([undefined])
  })
})

describe('a nonce', () => {
  const uses = (headers: readonly (string | undefined)[]) => headers.map((header) => header && `${parse(header).nonce} ${parse(header).nc}`)

  it('a nonce is used again for the whole origin, and counted in hex', async () => {
    const context = contextFor(MUFASA)
    expect(uses(await sent(context, [challenge('nonce=n, qop=auth')]))).toEqual([undefined, 'n 00000001'])
    for (let count = 2; count <= 17; count++) {
      const nc = count.toString(16).padStart(8, '0')
      expect(uses(await sent(context, [], get(`/other?${count}`)))).toEqual([`n ${nc}`])
    }
    expect((await fields(context, [], get('/q?a=b%20c'))).uri).toBe('/q?a=b%20c')
    const elsewhere = { ...get(), url: 'https://data.example:8443/' }
    expect(uses(await sent(context, [challenge('nonce=m, qop=auth')], elsewhere))).toEqual([undefined, 'm 00000001'])
  })

  it('a nonce is counted once for each of many requests at a time', async () => {
    const context = contextFor(MUFASA)
    await sent(context, [challenge('nonce=n, qop=auth')])
    const headers = await Promise.all(Array.from({ length: 20 }, () => sent(context, [])))
    const counts = headers.map(([header]) => parse(header).nc)
    expect(new Set(counts).size).toBe(20)
    expect(new Set(headers.map(([header]) => parse(header).cnonce)).size).toBe(20)
  })

  it('a nonce is sent where its domain says, and never to another origin', async () => {
    const domain = 'domain="/a /b/ https://data.example/c?x https://evil.example/ https://[ //data.example:8443/"'
    const asks = async (path: string) => {
      const context = contextFor(MUFASA)
      await sent(context, [challenge(`nonce=n, qop=auth, ${domain}`)], get('/a/first'))
      return (await sent(context, [], path.startsWith('/') ? get(path) : { ...get(), url: path }))[0] === undefined
    }
    for (const path of ['/a', '/a?x', '/a/b', '/b/', '/b/c', '/c/d?x']) expect(await asks(path), path).toBe(false)
    for (const path of ['/', '/ab', '/b', '/d', 'https://evil.example/', 'https://data.example:8443/'])
      expect(await asks(path), path).toBe(true)
  })

  it('a nonce of the realm named most closely is taken, else of the one that asked last', async () => {
    const context = contextFor(MUFASA)
    const ask = (path: string, more: string, space: string) =>
      sent(context, [challenge(`nonce=${space}, qop=auth${more}`, space)], get(path))
    const realm = async (path: string) => (await fields(context, [], get(path))).realm
    await ask('/', '', 'first')
    await ask('/x', ', domain="/deep/"', 'deep')
    expect(await realm('/deep/f')).toBe('deep')
    expect(await realm('/f')).toBe('first')
  })

  it('a nonce that was remembered is answered anew when the server asks anew', async () => {
    const context = contextFor(MUFASA)
    await sent(context, [challenge('nonce=n, qop=auth')])
    expect(uses(await sent(context, [challenge('nonce=m, qop=auth', 'another')]))).toEqual(['n 00000002', 'm 00000001'])
  })

  it('the nonce count continues when the server sends the same nonce again', async () => {
    const context = contextFor(MUFASA)
    await sent(context, [challenge('nonce=n, qop=auth')])
    await sent(context, [challenge('nonce=m, qop=auth')])
    expect(uses(await sent(context, [challenge('nonce=n, qop=auth')]))).toEqual(['m 00000002', 'n 00000003'])
    expect(uses(await sent(context, [challenge('nonce=n, qop=auth', 'another')]))).toEqual(['n 00000004', 'n 00000001'])
  })

  it('a nonce that is returned again after a refusal is answered once more', async () => {
    const same = challenge('nonce=n, qop=auth')
    expect(uses(await sent(contextFor(MUFASA), [same, same, same]))).toEqual([undefined, 'n 00000001', undefined, 'n 00000002'])
    expect(uses(await sent(contextFor(MUFASA), Array(8).fill(same)))).toEqual([undefined, 'n 00000001', undefined, 'n 00000002'])
  })

  it('a nonce that is stale is answered once more, and not forever', async () => {
    const stale = (nonce: string) => challenge(`nonce=${nonce}, qop=auth, stale=TRUE`)
    expect(uses(await sent(contextFor(MUFASA), [challenge('nonce=a, qop=auth'), stale('b')]))).toEqual([
      undefined,
      'a 00000001',
      'b 00000001',
    ])
    const endless = [challenge('nonce=a, qop=auth'), ...['b', 'c', 'd', 'e', 'f'].map(stale)]
    expect(uses(await sent(contextFor(MUFASA), endless))).toEqual([undefined, 'a 00000001', 'b 00000001'])
    const other = unauthorized('Digest realm="r", nonce=b, qop=auth, Other realm="r", stale=true')
    expect(uses(await sent(contextFor(MUFASA), [challenge('nonce=a, qop=auth'), other]))).toEqual([undefined, 'a 00000001'])
  })

  it('a repeated nonce after a refusal is not answered where the request succeeds without it', async () => {
    const same = challenge('nonce=n, qop=auth')
    expect(uses(await sent(contextFor(MUFASA), [same, same, {}]))).toEqual([undefined, 'n 00000001', undefined])
  })

  it('a nonce that only one request at a time may use is used so from then on, and any other one by many', async () => {
    const same = challenge('nonce=n, qop=auth')
    const isSecondSent = async (context: HttpContext) => {
      const [one, other] = [digest.authorize(get(), context), digest.authorize(get(), context)]
      await one.next(undefined as never)
      let isSent = false
      const second = other.next(undefined as never).then(() => (isSent = true))
      await new Promise((resolve) => setTimeout(resolve, 20))
      const before = isSent
      await one.return(undefined)
      expect(await second).toBe(true)
      await other.return(undefined)
      return before
    }
    const [shared, ordered] = [contextFor(MUFASA), contextFor(MUFASA)]
    await sent(shared, [same])
    await sent(ordered, [same, same, same])
    expect([await isSecondSent(shared), await isSecondSent(ordered)]).toEqual([true, false])
  })

  it('a nonce shared with other requests is tried once more alone when it is refused', async () => {
    const [n, p, q] = ['n', 'p', 'q'].map((nonce) => challenge(`nonce=${nonce}, qop=auth`)) as [Reply, Reply, Reply]
    const context = contextFor(MUFASA)
    await sent(context, [n])
    expect(uses(await sent(context, [n, p, q]))).toEqual(['n 00000002', 'n 00000003', undefined, 'q 00000001'])
    const ordered = contextFor(MUFASA)
    await sent(ordered, [n, n, n])
    expect(uses(await sent(ordered, [n, p, q]))).toEqual(['n 00000003', 'n 00000004'])
    const elsewhere = contextFor(MUFASA)
    const there = challenge('nonce=n, qop=auth, domain="/a"')
    await sent(elsewhere, [there], get('/a/first'))
    expect(uses(await sent(elsewhere, [there, p, q], get('/b')))).toEqual([undefined, 'n 00000002', undefined, 'q 00000001'])
  })

  it('a nonce that is refused while another request is under way is tried once more alone, when that one has ended', async () => {
    const [a, b, c] = ['a', 'b', 'c'].map((nonce) => challenge(`nonce=${nonce}, qop=auth`)) as [Reply, Reply, Reply]
    const context = contextFor(MUFASA)
    const other = digest.authorize(get(), context)
    await other.next(undefined as never)
    const refused = sent(context, [a, b, c])
    await new Promise((resolve) => setTimeout(resolve, 20))
    await other.return(undefined)
    expect(uses(await refused)).toEqual([undefined, 'a 00000001', undefined, 'c 00000001'])
  })

  it('a client nonce has 128 random bits', async () => {
    expect(Buffer.from((await fields(contextFor(MUFASA), [challenge('nonce=n, qop=auth')])).cnonce ?? '', 'base64')).toHaveLength(16)
  })

  it('a nonce whose answer was refused is not used again', async () => {
    const context = contextFor(MUFASA)
    await sent(context, [challenge('nonce=a, qop=auth'), challenge('nonce=b, qop=auth')])
    expect(await sent(context, [])).toEqual([undefined])
  })

  it('gives way to the next one that the server names', async () => {
    const context = contextFor(MUFASA)
    await sent(context, [challenge('nonce=a, qop=auth'), ok('nextnonce="b"')])
    expect(uses(await sent(context, [ok('nextnonce="b"')]))).toEqual(['b 00000001'])
    expect(uses(await sent(context, [ok('nextnonce="c", nextnonce="d"')]))).toEqual(['b 00000002'])
    expect(uses(await sent(context, [ok('nextnonce=""')]))).toEqual(['b 00000003'])
  })

  it('a nonce of a session stays bound to the first answer', async () => {
    const context = contextFor(MUFASA)
    const first = await fields(context, [challenge('nonce=a, qop=auth, algorithm=SHA-256-sess'), ok('nextnonce="b"')])
    const second = await fields(context, [])
    expect(second).toMatchObject({ nonce: 'b', nc: '00000001', cnonce: first.cnonce })
    expect(second.response).not.toBe(first.response)
  })
})

describe('the proof of the server', () => {
  const asked = challenge('nonce=n, qop=auth')
  const proud = { ...MUFASA, requireServerProof: true }

  it('the proof of the server may be absent, unless the credential requires it', async () => {
    await sent(contextFor(MUFASA), [asked, ok()])
    expect(await failureOf(sent(contextFor(proud), [asked, ok()]))).toMatchObject({ code: 'AUTH_SERVER_UNPROVEN', credential: 'mine' })
    expect(await failureOf(sent(contextFor(proud), [challenge('nonce=n'), ok('rspauth="a"')]))).toMatchObject({
      code: 'AUTH_SERVER_UNPROVEN',
    })
    expect(await sent(contextFor(proud), [asked, { status: 404 }])).toHaveLength(2)
  })

  it('the proof of the server is looked at whatever the status is, and brings no nonce when it is wrong', async () => {
    const context = contextFor(MUFASA)
    const reply = { status: 404, headers: { 'authentication-info': 'rspauth="0", nextnonce="evil"' } }
    expect(await failureOf(sent(context, [asked, reply]))).toMatchObject({ code: 'AUTH_SERVER_UNPROVEN' })
    expect((await fields(context, [])).nonce).toBe('n')
  })

  it('the proof of the server does not matter in a refusal, and in an error no more than in a success', async () => {
    const refusal = unauthorized('Digest realm="r", nonce=m, qop=auth', { 'authentication-info': 'rspauth="0"' })
    expect(await sent(contextFor(MUFASA), [asked, refusal])).toHaveLength(2)
    expect(await sent(contextFor(proud), [asked, { status: 400 }])).toHaveLength(2)
  })

  it('the proof of the server is not compared where it depends on the body of the response', async () => {
    for (const more of ['', ', qop=auth-int'])
      expect(await sent(contextFor(MUFASA), [challenge(`nonce=n${more}`), ok('rspauth="0"')])).toHaveLength(2)
  })
})

describe('the charset of an account', () => {
  const outside = { ...MUFASA, password: 'Käse' }
  const [a, b, c] = ['a', 'b', 'c'].map((nonce) => challenge(`nonce=${nonce}, qop=auth`)) as [Reply, Reply, Reply]

  it('is not known from an error, nor from a server that asked for UTF-8 in another challenge', async () => {
    const context = contextFor(outside)
    expect(await sent(context, [a, { status: 400 }])).toHaveLength(2)
    expect(await sent(context, [b, c])).toHaveLength(3)
    const other = contextFor(outside)
    expect(await sent(other, [challenge('nonce=a, qop=auth, charset=UTF-8'), ok()])).toHaveLength(2)
    expect(await sent(other, [b, c])).toHaveLength(3)
  })

  it('is known from a success', async () => {
    const context = contextFor(outside)
    expect(await sent(context, [a, ok()])).toHaveLength(2)
    expect(await sent(context, [b, c])).toHaveLength(2)
  })

  it('is forgotten when it is refused: the server may have changed', async () => {
    const context = contextFor(outside)
    expect(await sent(context, [a, b, ok()])).toHaveLength(3)
    const [d, e, f] = ['d', 'e', 'f'].map((nonce) => challenge(`nonce=${nonce}, qop=auth`)) as [Reply, Reply, Reply]
    expect(await sent(context, [c, d])).toHaveLength(2)
    expect(await sent(context, [e, f])).toHaveLength(3)
  })
})

it('asks first, also when the request is only to be made', async () => {
  const context = contextFor(MUFASA)
  const step = await readyStep(digest.authorize(get(), context), [challenge('nonce=n, qop=auth')])
  expect(step).toMatchObject({ kind: 'authorized', request: { url: get().url, method: 'GET' } })
  expect((await readyStep(digest.authorize(get(), context)))?.request.headers.authorization).toContain('nc=00000002')
  expect(await readyStep(digest.authorize(get('/'), contextFor(MUFASA)), [{}])).toBeUndefined()
})

it('keeps nothing of the requests that were sent alone before', async () => {
  const { lock } = new ProtectionSpaces()
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc')
  const send = async (count: number) => {
    for (let entered = 0; entered < count; entered++) (await lock.enter(true)).leave()
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  const before = await send(1000)
  // Each of them took 300 bytes and more where results were kept.
  expect((await send(50_000)) - before).toBeLessThan(50_000 * 40)
})
