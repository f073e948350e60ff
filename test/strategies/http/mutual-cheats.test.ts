import { getDiffieHellman } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { canary, leaks, shown } from '../../harness/canary.ts'
import { failureOf } from '../../harness/failure.ts'
import { script } from '../../harness/scripted.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { victim } from '../../harness/victim.ts'
import { type MutualServerOptions, mutualServer } from '../../servers/mutual-server.ts'
import { ADA, ALGORITHM, asset, changing, engine, ORIGIN } from './mutual-engine.ts'

const prime = getDiffieHellman('modp14').getPrime()
const minusOne = Buffer.concat([prime.subarray(0, -1), Buffer.of(0xfe)])
const small = (value: number) => Buffer.alloc(256).fill(value, 255)
const ks1 = (bytes: Buffer) => changing('exchange', /ks1="[^"]+"/, `ks1="${bytes.toString('base64')}"`)

describe('a server that cheats', () => {
  it.each<[string, Partial<MutualServerOptions>, string, number]>([
    ...['iso-kam3-dl-4096-sha512', 'iso-kam3-ec-p256-sha256', 'iso-kam3-ec-p521-sha512', 'x-new'].map(
      (algorithm): [string, Partial<MutualServerOptions>, string, number] => [
        `with ${algorithm}`,
        { algorithm },
        `algorithm ${algorithm}`,
        1,
      ],
    ),
    ['with an algorithm that is no name', changing('init', /algorithm=[^,]+/, 'algorithm="pe ncil"'), 'without a name', 1],
    ['that binds to the certificate', { validation: 'tls-server-end-point' }, '"validation"', 1],
    ['that binds to the connection', { validation: 'tls-unique' }, '"validation"', 1],
    ...['version', 'validation', 'reason'].map((name): [string, Partial<MutualServerOptions>, string, number] => [
      `without ${name}`,
      changing('init', new RegExp(`(?:, )?${name}=[^,]+`), ''),
      `it lacks "${name}"`,
      1,
    ]),
    ['without a realm', changing('init', /realm="files", /, ''), 'it lacks "realm"', 1],
    ['with another version', changing('init', /version=1/, 'version=2'), '"version"', 1],
    ['with a control character in its realm', { realm: 'a\u0001b' }, 'no readable challenge', 1],
    [
      'with its half of the exchange too early',
      changing('init', /reason=.*/, `ks1="${small(3).toString('base64')}", sid=00`),
      '"reason"',
      1,
    ],
    ['with Basic in its place', changing('init', /.*/, 'Basic realm="x"'), 'it offers Basic', 1],
    ['with ks1 = 0', ks1(small(0)), '"ks1"', 2],
    ['with ks1 = 1', ks1(small(1)), '"ks1"', 2],
    ['with ks1 = q - 1', ks1(minusOne), '"ks1"', 2],
    ['with ks1 = q', ks1(prime), '"ks1"', 2],
    ['with ks1 > q', ks1(Buffer.alloc(256, 0xff)), '"ks1"', 2],
    ['with a short ks1', ks1(small(3).subarray(1)), '"ks1"', 2],
    ['with a ks1 that is no base64', changing('exchange', /ks1="../, 'ks1="!!'), '"ks1"', 2],
    ['with another realm in the middle', changing('exchange', /realm="[^"]*"/, 'realm="other"'), 'realm', 2],
    ['with another scope in the middle', changing('exchange', /realm=/, 'auth-scope="data.victim.example", realm='), 'realm', 2],
    ['with another algorithm in the middle', changing('exchange', /dl-2048/, 'dl-4096'), '"algorithm"', 2],
    ['with another validation in the middle', changing('exchange', /=host/, '=tls-unique'), '"validation"', 2],
    ['without a session', changing('exchange', /sid=[^,]+, /, ''), '"sid"', 2],
    ['with half a byte for a session', changing('exchange', /sid=./, 'sid='), '"sid"', 2],
    ['that allows no request', changing('exchange', /nc-max=\d+/, 'nc-max=0'), '"nc-max"', 2],
    ['with a count that is no number', changing('exchange', /nc-max=\d+/, 'nc-max=1e4'), '"nc-max"', 2],
    ['without a window', changing('exchange', /nc-window=\d+, /, ''), '"nc-window"', 2],
    ['without a time', changing('exchange', /, time=\d+/, ''), '"time"', 2],
    ['with a refusal in the exchange', changing('exchange', /$/, ', reason=auth-failed'), '"reason"', 2],
  ])('%s gets no proof', async (_name, options, told, requests) => {
    const { get, wire } = engine(options)
    expect(await failureOf(get())).toMatchObject({ code: 'AUTH_CHALLENGE_UNSUPPORTED', message: expect.stringContaining(told) })
    expect(wire.sent).toHaveLength(requests)
    expect(JSON.stringify(wire.sent)).not.toContain(' vkc=')
  })

  it.each([
    'evil.example',
    'victim.example',
    'DATA.victim.example',
    'https://evil.example',
    'http://data.victim.example',
    'https://data.victim.example:444',
    'https://data.victim.example/',
    '*.evil.example',
    '*.example',
    '*.tim.example',
    '*.',
    '*',
  ])('a server that cheats with the scope %j gets no name', async (scope) => {
    const { get, wire } = engine({ scope })
    expect(await failureOf(get())).toMatchObject({ code: 'AUTH_CHALLENGE_UNSUPPORTED', message: expect.stringContaining('"auth-scope"') })
    expect(wire.sent).toHaveLength(1)
  })

  it.each(['*.github.io', '*.127.0.0.1'])('a server that cheats with the scope %j, which strangers share, gets no name', async (scope) => {
    const url = `https://${scope === '*.github.io' ? 'ada.github.io' : '127.0.0.1'}/f.tif`
    const server = mutualServer({ users: { ada: 'pencil' }, origin: new URL(url).origin, scope })
    const wire = script(server)
    const { auth } = victim({ credentials: unchecked({ ...ADA, sendTo: url }), typed: [url] }, wire)
    expect(await failureOf(auth.fetch(asset(url)))).toMatchObject({ code: 'AUTH_CHALLENGE_UNSUPPORTED' })
    expect(wire.sent).toHaveLength(1)
  })

  const wrong = Buffer.alloc(32, 7).toString('base64')
  it.each<[string, Partial<MutualServerOptions>]>([
    ['does not prove itself', { answer: (one, step) => (step === 'verified' ? { status: 200, body: one.body ?? '' } : one) }],
    ['proves something else', changing('verified', /vks="[^"]+"/, `vks="${wrong}"`)],
    ['proves less', changing('verified', /vks="..../, 'vks="')],
    ['proves it for another session', changing('verified', /sid=../, 'sid=zz')],
    ['proves it for no session', changing('verified', /sid=[^,]+, /, '')],
    ['proves it in another version', changing('verified', /version=1/, 'version=2')],
    ['proves it twice', changing('verified', /$/, `, vks="${wrong}"`)],
    ['gives the file without a proof of ours', { answer: (one, step) => (step === 'exchange' ? { status: 200, body: 'bad' } : one) }],
    ['leads elsewhere', { answer: (one, step) => (step === 'verified' ? { status: 302, headers: { location: '/x' } } : one) }],
    ['has lost the file without a proof', { answer: (one, step) => (step === 'verified' ? { status: 404 } : one) }],
  ])('%s is not believed', async (_name, options) => {
    const { get } = engine(options)
    expect(await failureOf(get())).toMatchObject({ name: 'ProtocolError', code: 'AUTH_SERVER_UNPROVEN', credential: 'mine' })
  })

  it('returns our own proof and is not believed', async () => {
    const serve = mutualServer({ users: { ada: 'pencil' }, origin: ORIGIN })
    const wire = script((sent) => {
      const [, sid, vkc] = /sid=(\w+), .*vkc="([^"]+)"/.exec(sent.headers.authorization ?? '') ?? []
      return vkc ? { status: 200, headers: { 'authentication-info': `version=1, sid=${sid}, vks="${vkc}"` } } : serve(sent)
    })
    const { auth } = victim({ credentials: unchecked(ADA) }, wire)
    expect(await failureOf(auth.fetch(asset()))).toMatchObject({ code: 'AUTH_SERVER_UNPROVEN' })
  })

  it('stays out of later requests as well', async () => {
    let isBad = false
    const answer: MutualServerOptions['answer'] = (one, step) => (isBad && step === 'verified' ? { status: 200, body: 'bad' } : one)
    const { get, said } = engine({ answer })
    await get()
    isBad = true
    expect(await failureOf(get())).toMatchObject({ code: 'AUTH_SERVER_UNPROVEN' })
    expect(said()).toHaveLength(4)
  })

  it.each(['initial', 'stale-session', 'reauth-needed', 'auth-failed'])(
    'a server that cheats and only ever answers %s is asked twice',
    async (reason) => {
      const { get, wire } = engine()
      const header = `Mutual version=1, algorithm=${ALGORITHM}, validation=host, realm="files", reason=${reason}`
      const endless = script(() => ({ status: 401, headers: { 'www-authenticate': header } }))
      const { auth } = victim({ credentials: unchecked(ADA) }, endless)
      expect(await failureOf(auth.fetch(asset()))).toMatchObject({ code: 'AUTH_REJECTED', message: expect.stringContaining(`(${reason})`) })
      expect(endless.sent).toHaveLength(2)
      expect((await get()).status).toBe(200)
      expect(wire.sent).toHaveLength(3)
    },
  )

  it('learns nothing that an error could tell', async () => {
    const secret = canary('mutual')
    for (const options of [
      ks1(small(1)),
      changing('verified', /vks="../, 'vks="xx'),
      changing('exchange', /sid=/, 'reason=x, sid='),
      { users: {} },
    ]) {
      const { get, wire } = engine({ users: { ada: secret.value }, ...options }, { password: secret.value })
      const error = await failureOf(get())
      expect(leaks([secret], { error: shown(error), wire: JSON.stringify(wire.sent.map(({ headers }) => headers)) })).toEqual([])
    }
  })
})
