import { afterEach, describe, expect, it } from 'vitest'
import { type AuthOptions, createAuth } from '../../src/auth/create-auth.ts'
import type { CredentialInput } from '../../src/auth/credential.ts'
import { undiciTransport } from '../../src/node/transport/undici-transport.ts'
import { canary, leaks, shown } from '../harness/canary.ts'
import { target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { unchecked } from '../harness/unchecked.ts'
import { type Answer, type AnsweringServer, type Inquiry, startAnswering } from '../servers/answering-server.ts'
import { type CookieLogin, type CookieLoginOptions, cookieLogin } from '../servers/cookie-login.ts'
import { CERTIFIED, TEST_CA } from '../servers/harness.ts'

/** By name, as the certificate has them, with what the name server says. */
const HOSTS = { data: 'data.example', login: 'internal.example', evil: 'evil.example' } as const
const ADDRESSES = { 'data.example': '93.184.215.14', 'internal.example': '93.184.215.15', 'evil.example': '93.184.215.16' }
const DATA = `https://${HOSTS.data}`
const LOGIN = `https://${HOSTS.login}`
const EVIL = `https://${HOSTS.evil}`
const secret = canary('pass')
const ACCOUNT = { username: 'ada', password: secret.value }
const BASIC = { type: 'http', scheme: 'basic' } as const

const open: AnsweringServer[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})

type Place = (request: Inquiry) => Answer

interface Circumstances {
  readonly login?: Partial<CookieLoginOptions>
  /** What each host says instead; undefined leaves it to the login. */
  readonly instead?: { readonly data?: (request: Inquiry) => Answer | undefined; readonly login?: (request: Inquiry) => Answer | undefined }
  readonly evil?: Place
  readonly credentials?: readonly CredentialInput[]
  readonly options?: Partial<AuthOptions>
}

/** The hosts of a login, one that has no part in it, and the user's engine. */
async function setUp({
  login: more,
  instead = {},
  evil = () => ({ status: 200, body: 'evil' }),
  credentials,
  options,
}: Circumstances = {}) {
  const site: CookieLogin = cookieLogin({ data: DATA, login: LOGIN, ...ACCOUNT, ...more })
  const hosts: Record<keyof typeof HOSTS, AnsweringServer> = {
    data: await startAnswering((request) => instead.data?.(request) ?? site.data(request), CERTIFIED),
    login: await startAnswering((request) => instead.login?.(request) ?? site.login(request), CERTIFIED),
    evil: await startAnswering(evil, CERTIFIED),
  }
  open.push(...Object.values(hosts))
  const places = new Map(Object.entries(HOSTS).map(([host, name]) => [ADDRESSES[name], hosts[host as keyof typeof HOSTS]]))
  const transport = undiciTransport({
    ca: TEST_CA,
    env: {},
    lookup: async (name) => [{ address: ADDRESSES[name as keyof typeof ADDRESSES], family: 4 }],
    connect: ({ address }) => ({ address: '127.0.0.1', port: Number(new URL(places.get(address)?.origin ?? '').port) }),
  })
  const entry = { id: 'earthdata', ...BASIC, ...ACCOUNT, sendTo: [`${LOGIN}/`, `${DATA}/`] }
  const auth = createAuth({ credentials: credentials ?? [entry], transport, ...options })
  const get = async (path = '/files/a.tif', origin: string = DATA) => (await auth.fetch(target(BASIC, `${origin}${path}`))).text()
  const seen = (host: keyof typeof HOSTS) => hosts[host].exchanges.map(({ request }) => request)
  return { site, auth, get, seen, entry }
}

/** Names of the cookies of each request. */
const cookieNames = (requests: readonly Inquiry[]) =>
  requests.map(({ headers }) => (headers.cookie ?? '').split('; ').map((pair) => pair.split('=')[0]))
const bare = ({ headers }: Inquiry) => headers.cookie === undefined && headers.authorization === undefined

describe('a login that leads over another host and sets cookies', () => {
  it('returns the file', async () => {
    const { get, site, seen } = await setUp()
    expect(await get()).toBe('data of /files/a.tif')
    expect(site.violations).toEqual([])
    expect(cookieNames(seen('data'))).toEqual([[''], ['state'], ['session']])
    expect(cookieNames(seen('login'))).toEqual([['']])
  })

  it('serves the next files too, each with a request of its own', async () => {
    const { get, site, seen } = await setUp()
    await get()
    for (const name of ['b', 'c']) expect(await get(`/files/${name}.tif`)).toBe(`data of /files/${name}.tif`)
    expect(site.counts).toEqual({ files: 3, sessions: 1, passwords: 1 })
    expect(seen('login')).toHaveLength(1)
    expect(site.violations).toEqual([])
  })

  it('each of many parallel requests does a login over another host that sets cookies, undisturbed', async () => {
    const { get, site } = await setUp()
    const paths = Array.from({ length: 8 }, (_, index) => `/files/${index}.tif`)
    expect(await Promise.all(paths.map((path) => get(path)))).toEqual(paths.map((path) => `data of ${path}`))
    expect(await Promise.all(paths.map((path) => get(path)))).toEqual(paths.map((path) => `data of ${path}`))
    expect(site.violations).toEqual([])
    expect(site.counts.files).toBe(16)
    expect(site.counts.sessions).toBe(8)
  })

  it('a login over another host is repeated when its session has ended, with the cookies of the login host', async () => {
    const { get, site } = await setUp()
    await get()
    site.expire()
    expect(await get()).toBe('data of /files/a.tif')
    expect(site.counts).toEqual({ files: 2, sessions: 2, passwords: 1 })
    expect(site.violations).toEqual([])
  })

  it('a login that leads over another host and sets cookies is done again when the cookie has expired', async () => {
    let now = Date.now()
    const { get, site } = await setUp({ login: { attributes: 'Path=/; Secure; Max-Age=60' }, options: { clock: { now: () => now } } })
    await get()
    now += 59_000
    await get()
    expect(site.counts.sessions).toBe(1)
    now += 2000
    await get()
    expect(site.counts.sessions).toBe(2)
    expect(site.violations).toEqual([])
  })

  it('a login over another host is reported as refused for a wrong password, and leaves no cookie', async () => {
    const { get, site, seen } = await setUp({ login: { password: 'another' } })
    for (let round = 0; round < 2; round++) {
      const error = await failureOf(get())
      expect(error).toMatchObject({ code: 'AUTH_REJECTED', credential: 'earthdata' })
      expect(leaks([secret], { error: shown(error) })).toEqual([])
    }
    expect(cookieNames(seen('data'))).toEqual([[''], ['']])
    expect(site.counts.files).toBe(0)
  })

  it('cookies of a login are sent beside a key that is a cookie itself', async () => {
    const key = { id: 'key', type: 'apiKey', in: 'cookie', name: 'key', value: secret.value, sendTo: `${DATA}/` }
    const { auth, seen } = await setUp({
      credentials: [unchecked(key)],
      instead: {
        data: ({ headers, path }) => {
          if (path === '/files/done') return { status: 200, body: headers.cookie ?? '' }
          return { status: 302, headers: { location: '/files/done' }, cookies: ['key=theirs; Path=/', 'more=1; Path=/'] }
        },
      },
    })
    const wanted = target({ type: 'apiKey', in: 'cookie', name: 'key' }, `${DATA}/files/a`)
    expect(await (await auth.fetch(wanted)).text()).toBe(`key=${secret.value}; more=1`)
    expect(seen('login')).toEqual([])
  })
})

describe('cookies of a refused session', () => {
  const refusing = (refused: string) => ({
    instead: {
      data: ({ path }: Inquiry): Answer => {
        if (path === refused) return { status: 401 }
        return path === '/files/in'
          ? { status: 302, headers: { location: '/files/done' }, cookies: ['session=1; Path=/'] }
          : { status: 200, body: 'ok' }
      },
    },
  })

  it('are deleted with a 401 to a later request', async () => {
    const { get, seen } = await setUp(refusing('/files/refused'))
    await get('/files/in')
    await get('/files/x')
    expect(await failureOf(get('/files/refused'))).toMatchObject({ code: 'AUTH_REJECTED' })
    await get('/files/y')
    expect(cookieNames(seen('data'))).toEqual([[''], ['session'], ['session'], ['session'], ['']])
  })

  it('are deleted with a 401 in the chain that set them', async () => {
    const { get, seen } = await setUp(refusing('/files/done'))
    expect(await failureOf(get('/files/in'))).toMatchObject({ code: 'AUTH_REJECTED' })
    await get('/files/y')
    expect(cookieNames(seen('data'))).toEqual([[''], ['session'], ['']])
  })

  it('of other origins stay', async () => {
    const { get, site } = await setUp({ instead: { data: ({ path }) => (path === '/files/refused' ? { status: 401 } : undefined) } })
    await get()
    expect(await failureOf(get('/files/refused'))).toMatchObject({ code: 'AUTH_REJECTED' })
    await get()
    expect(site.counts).toMatchObject({ sessions: 2, passwords: 1 })
  })
})

describe('a cookie stays where it belongs', () => {
  it('a cookie stays where it belongs at the host that set it, whatever domain it names', async () => {
    const wide = [
      `wide=1; Domain=${HOSTS.data}; Path=/`,
      'all=1; Domain=.example; Path=/; Secure',
      `theirs=1; Domain=${HOSTS.login}; Path=/`,
    ]
    const { get, site, seen } = await setUp({ login: { more: { data: wide, login: [`session=forged; Domain=${HOSTS.data}; Path=/`] } } })
    expect(await get()).toBe('data of /files/a.tif')
    await get()
    expect(site.violations).toEqual([])
    expect(seen('login').every(({ headers }) => headers.cookie === undefined)).toBe(true)
    expect(cookieNames(seen('data')).flat()).not.toContain('theirs')
  })

  it('a cookie stays where it belongs below its path', async () => {
    const { get, seen } = await setUp({ login: { more: { data: ['deep=1; Path=/files/deep', 'other=1; Path=/fil', 'here=1'] } } })
    await get()
    await get('/files/deep/a.tif')
    const names = cookieNames(seen('data')).slice(2)
    expect(names[0]).not.toContain('deep')
    expect(names[1]).toContain('deep')
    expect(names.flat()).not.toContain('other')
  })

  it('a cookie stays where it belongs with its credential: another user does not get the session', async () => {
    const other = { id: 'other', ...BASIC, username: 'eve', password: 'open', sendTo: [`${DATA}/files/eve/`, `${LOGIN}/`] }
    const mine = { id: 'mine', ...BASIC, ...ACCOUNT, sendTo: [`${DATA}/`, `${LOGIN}/`] }
    const { get, seen } = await setUp({ credentials: [mine, other] })
    await get()
    const before = seen('data').length
    expect(await get('/files/eve/a.tif')).not.toContain('data of')
    expect(seen('data').at(before)?.headers.cookie).toBeUndefined()
  })

  it('a cookie stays where it belongs with credentials: a target that requests nothing gets none', async () => {
    const { auth, get, seen } = await setUp()
    await get()
    const before = seen('data').length
    await auth.fetch(target(undefined, `${DATA}/files/a.tif`)).catch(() => undefined)
    expect(seen('data').at(before)?.headers.cookie).toBeUndefined()
  })

  it.each([
    ['without Secure for a name that promises it', '__Secure-a=1; Path=/'],
    ['with a domain for a name that promises none', `__Host-a=1; Path=/; Secure; Domain=${HOSTS.data}`],
    ['below a path for a name that promises none', '__Host-a=1; Path=/files; Secure'],
    ['of 5 kB', `a=${'x'.repeat(5000)}; Path=/`],
    ['with bytes outside ASCII', 'a=\u009b2J; Path=/'],
    ['without a name', '=a; Path=/'],
    ['without a value and an equals sign', 'a; Path=/'],
    ['that is over', 'a=1; Path=/; Max-Age=0'],
    ['that was over', 'a=1; Path=/; Expires=Wed, 21-Oct-2015 07:28:00 GMT'],
  ])('or nowhere: %s', async (_what, field) => {
    const { auth, seen } = await setUp({
      instead: {
        data: ({ path }) =>
          path === '/files/done' ? { status: 200 } : { status: 302, headers: { location: '/files/done' }, cookies: [field, 'good=1'] },
      },
    })
    await auth.fetch(target(BASIC, `${DATA}/files/a`))
    expect(cookieNames(seen('data'))).toEqual([[''], ['good']])
  })

  it('or nowhere, when there are too many: the header stays below 8 KiB', async () => {
    const many = Array.from({ length: 8 }, (_, index) => `c${index}=${'x'.repeat(1500)}; Path=/`)
    const { get, seen } = await setUp({ login: { more: { data: many.slice(0, 4), login: many } } })
    await get()
    await get('/files/b.tif')
    const lengths = seen('data').map(({ headers }) => headers.cookie?.length ?? 0)
    expect(Math.max(...lengths)).toBeLessThanOrEqual(8192)
    expect(Math.max(...lengths)).toBeGreaterThan(1500)
  })
})

describe('a host that has no part in the login', () => {
  it('gets nothing when the data host redirects to it after the login', async () => {
    const { get, seen } = await setUp({
      instead: {
        data: ({ headers }) => (headers.cookie?.includes('session=') ? { status: 302, headers: { location: `${EVIL}/x` } } : undefined),
      },
    })
    expect(await get()).toBe('evil')
    expect(seen('evil').map(bare)).toEqual([true])
  })

  it('gets nothing when the login host redirects to it, and its cookies are not taken', async () => {
    const inject = ['session=evil; Path=/', `session=evil; Domain=${HOSTS.data}; Path=/`, 'session=evil; Domain=.example; Path=/']
    const { get, seen, site } = await setUp({
      instead: { login: ({ query }) => (query.has('again') ? undefined : { status: 302, headers: { location: `${EVIL}/x` } }) },
      evil: () => ({ status: 302, headers: { location: `${DATA}/files/a.tif` }, cookies: inject }),
    })
    expect(await failureOf(get())).toMatchObject({ code: expect.stringMatching(/^REDIRECT_(?:LOOP|TOO_MANY)$/) })
    expect(seen('evil').every(bare)).toBe(true)
    expect(seen('data').every(({ headers }) => !headers.cookie?.includes('evil'))).toBe(true)
    expect(site.counts.files).toBe(0)
  })

  it('gets nothing from a catalog that names the login host', async () => {
    const { get, seen, site } = await setUp()
    await get()
    const query = new URLSearchParams({ client_id: 'data-portal', response_type: 'code', redirect_uri: `${EVIL}/login`, state: 'x' })
    await get(`/oauth/authorize?${query}`, LOGIN).catch(() => undefined)
    expect(seen('evil')).toEqual([])
    expect(site.violations).toEqual([])
  })

  it('a host that has no part in the login is reached without cookies when the catalog names it', async () => {
    const { get, seen } = await setUp()
    await get()
    expect(await failureOf(get('/files/a.tif', EVIL))).toMatchObject({ code: 'CREDENTIAL_TARGET_UNTRUSTED' })
    expect(seen('evil')).toEqual([])
  })
})

describe('hosts that the user did not name', () => {
  const credentials = [{ id: 'earthdata', ...BASIC, ...ACCOUNT, sendTo: [`${LOGIN}/`] }]
  const wanted = target(BASIC, `${DATA}/files/a.tif`)

  it('a data host outside sendTo gets neither cookie nor password', async () => {
    const { auth, seen, site } = await setUp({ credentials, options: { anonymous: 'allow' } })
    expect((await auth.fetch(wanted)).status).toBe(400)
    expect(seen('data').every(bare)).toBe(true)
    expect(seen('data')).toHaveLength(2)
    expect(site.counts.files).toBe(0)
  })

  it('a login over hosts outside sendTo ends in a redirect loop whose error names the missing host', async () => {
    const { auth, seen } = await setUp({
      credentials,
      options: { anonymous: 'allow' },
      instead: {
        data: () => ({ status: 302, headers: { location: `${LOGIN}/in`, 'set-cookie': 'session=1; Path=/' } }),
        login: () => ({ status: 302, headers: { location: `${DATA}/files/a.tif` } }),
      },
    })
    const error = await failureOf(auth.fetch(wanted))
    expect(error).toMatchObject({ code: 'REDIRECT_LOOP', hint: expect.stringContaining('each of its hosts in "sendTo"') })
    expect(seen('data').every(bare)).toBe(true)
  })

  it('hosts that the user did not name cannot keep a request going with ever new cookies', async () => {
    let count = 0
    const { get, seen } = await setUp({
      instead: { data: () => ({ status: 302, headers: { location: '/files/a.tif', 'set-cookie': `n=${++count}; Path=/` } }) },
    })
    expect(await failureOf(get())).toMatchObject({ code: 'REDIRECT_TOO_MANY' })
    expect(seen('data')).toHaveLength(11)
  })

  it('hosts that the user did not name cannot keep a request going with the same cookie', async () => {
    const { get } = await setUp({
      instead: { data: () => ({ status: 302, headers: { location: '/files/a.tif', 'set-cookie': 'n=1; Path=/' } }) },
    })
    expect(await failureOf(get())).toMatchObject({ code: 'REDIRECT_LOOP' })
  })
})
