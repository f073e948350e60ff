import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { PassThrough } from 'node:stream'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { CredentialStatus, Interaction } from '../../src/auth/auth.ts'
import { createDiagnostics } from '../../src/cli/io.ts'
import { deviceText, type Logins, login, logout, status } from '../../src/cli/login.ts'
import { NetworkError } from '../../src/errors.ts'
import { failureOf } from '../harness/failure.ts'
import { put, temporaryFolder } from './folder.ts'
import { itemWith } from './items.ts'
import { run } from './run.ts'

const folder = await temporaryFolder()

const CODE = {
  type: 'oauth2',
  flow: 'authorizationCode',
  authorizationUrl: 'https://identity.example/authorize',
  tokenUrl: 'https://identity.example/token',
  clientId: 'me',
  sendTo: ['https://data.example/'],
}
const key = { id: 'key', type: 'apiKey', in: 'header', name: 'x', value: { env: 'KEY' }, sendTo: ['https://key.example/'] }
const credentials = await put(folder, 'credentials.json', {
  version: 1,
  credentials: [{ id: 'ada', ...CODE }, { id: 'bob', ...CODE }, key],
})
const bucket = { id: 'eo', type: 's3', stsEndpoint: 'https://data.example/sts', with: 'ada', sendTo: ['s3://eo/'] }
const withBucket = await put(folder, 'bucket.json', { version: 1, credentials: [{ id: 'ada', ...CODE }, bucket] })

/** An engine that remembers what it was asked for, and a terminal that remembers what it showed. */
function stage({
  isTTY = true,
  states = {} as Record<string, CredentialStatus['state']>,
  persistent = true,
  flow = 'authorizationCode',
  env = {} as Record<string, string>,
} = {}) {
  const calls: string[] = []
  const ways: Interaction[] = []
  const logins: Logins = {
    login: async (credential, interaction = {}) => {
      calls.push(`login ${credential}`)
      ways.push(interaction)
      states[credential] = 'valid'
    },
    logout: async (credential) => {
      calls.push(`logout ${credential}`)
    },
    status: async () =>
      ['ada', 'bob', ...(states.eo ? ['eo'] : [])].map((credential) => {
        const state = states[credential] ?? 'none'
        const known = state === 'none' ? {} : { expiresAt: '2026-07-01T10:00:00.000Z', scopes: ['read'] }
        return {
          credential,
          type: 'oauth2',
          flow,
          state,
          refreshable: credential === 'bob',
          persistent,
          ...known,
        }
      }),
  }
  let [shown, printed] = ['', '']
  const terminal = () => Object.assign(new PassThrough(), { isTTY })
  const [stdin, stdout, stderr] = [terminal(), terminal(), terminal()]
  stderr.on('data', (text) => (shown += text))
  stdout.on('data', (text) => (printed += text))
  const io = { stdin, stdout, stderr, env: { XDG_CACHE_HOME: folder, ...env }, signal: new AbortController().signal }
  const context = { io, diagnostics: createDiagnostics(io, false), run: () => async () => {} }
  return { context, open: async () => logins, calls, ways, shown: () => shown, printed: () => printed }
}

const options = { credentials }

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

describe('login', () => {
  it('logs in as a credential, also again', async () => {
    const { context, open, calls, shown } = stage({ states: { ada: 'valid' } })
    expect(await login('ada', options, context, open)).toBe(0)
    expect(calls).toEqual(['login ada'])
    expect(shown()).toMatch(/^"ada" is logged in until 2026-07-01T10:00:00.000Z \(.+\)\n$/)
  })

  it('logs in as the credential with whose login keys are obtained', async () => {
    const { context, open, calls } = stage({ states: { eo: 'valid' } })
    expect(await login('eo', { credentials: withBucket }, context, open)).toBe(0)
    expect(calls).toEqual(['login ada'])
  })

  it('sends nobody to a provider for tokens that cannot be stored', async () => {
    const { context, open, calls } = stage({ env: { XDG_CACHE_HOME: credentials } })
    await expect(login('ada', options, context, open)).rejects.toMatchObject({
      code: 'CACHE_NOT_WRITABLE',
      message: expect.stringMatching(/^cannot log in as "ada", its tokens cannot be stored: /),
      hint: expect.stringContaining('XDG_CACHE_HOME'),
    })
    expect(calls).toEqual([])
  })

  it.each([{ env: { XDG_CACHE_HOME: credentials } }, { persistent: false }])(
    'says that no token is stored, for a flow without a person',
    async (where) => {
      const { context, open, calls, shown } = stage({ flow: 'clientCredentials', ...where })
      expect(await login('ada', options, context, open)).toBe(0)
      expect(calls).toEqual(['login ada'])
      expect(shown()).toBe('"ada" obtained a token, which is not stored: each command obtains another\n')
    },
  )

  it('offers a code and the browser, with --browser the browser alone', async () => {
    const { context, open, ways } = stage()
    await login('ada', options, context, open)
    await login('ada', { ...options, browser: true }, context, open)
    expect(ways.map((way) => Object.keys(way))).toEqual([['redirect', 'device'], ['redirect']])
  })

  it.each([
    [{}, {}, true, true],
    [{}, {}, false, true],
    [{}, { port: 'registered' }, true, false],
    [{ port: 'given' }, {}, true, false],
  ])('names the redirect URI when the browser does not come back: options %j, credential %j', async (given, wished, isTTY, isFree) => {
    const { context, open, ways, shown } = stage({ isTTY })
    const free = await freePort()
    await login('ada', { ...options, yes: true, ...('port' in given && { port: free }) }, context, open)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const attempt = new AbortController()
    const redirection = await ways[0]?.redirect?.(attempt.signal, 'port' in wished ? { port: free } : {})
    const answered = redirection?.answer('https://identity.example/authorize', () => true, { state: 's', record: '' })
    const failed = failureOf(answered ?? Promise.resolve())
    await vi.advanceTimersByTimeAsync(29_000)
    expect(shown()).not.toContain('redirect URI')
    await vi.advanceTimersByTimeAsync(2000)
    const { port } = new URL(redirection?.uri ?? '')
    expect(shown()).toContain(`If the provider refuses the redirect URI, register it there:\n  http://127.0.0.1:${port}/callback\n`)
    expect(shown().includes(`--port ${port}`)).toBe(isFree)
    attempt.abort()
    expect(await failed).toMatchObject({ code: 'ABORTED' })
  })

  it('says nothing of the redirect URI after an answer', async () => {
    const { context, open, ways, shown } = stage()
    await login('ada', options, context, open)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const redirection = await ways[0]?.redirect?.()
    const answered = redirection?.answer('https://identity.example/authorize', () => true, { state: 's', record: '' })
    await fetch(`${redirection?.uri}?state=s&code=c`)
    expect((await answered)?.searchParams.get('code')).toBe('c')
    await vi.advanceTimersByTimeAsync(60_000)
    expect(shown()).not.toContain('redirect URI')
  })

  it('login has nothing to do for a credential without user interaction', async () => {
    const { context, open, calls, shown } = stage()
    expect(await login('key', options, context, open)).toBe(0)
    expect([calls, shown()]).toEqual([[], '"key" needs no login\n'])
  })

  it('sends no one to a provider for tokens that end with the command', async () => {
    const { context, open, calls } = stage({ persistent: false })
    const hint = expect.stringContaining('"dpopKey"')
    await expect(login('ada', options, context, open)).rejects.toMatchObject({ code: 'CONFIG_INVALID', credential: 'ada', hint })
    expect(calls).toEqual([])
  })

  it('needs a terminal, or --yes', async () => {
    const { context, open, calls } = stage({ isTTY: false })
    await expect(login('ada', options, context, open)).rejects.toMatchObject({ code: 'LOGIN_REQUIRED', credential: 'ada' })
    expect(calls).toEqual([])
    expect(await login('ada', { ...options, yes: true }, context, open)).toBe(0)
    expect(calls).toEqual(['login ada'])
  })

  it('reports the credentials that there are', async () => {
    expect(await run(['login', 'nobody', '--credentials', credentials])).toMatchObject({
      code: 3,
      stderr: 'error NO_CREDENTIAL: unknown credential "nobody"\n  the credentials are: ada, bob, key\n',
    })
    expect(await run(['login', './nobody', '--credentials', credentials])).toMatchObject({ code: 6 })
  })

  it('reports when a document needs none', async () => {
    const document = await put(folder, 'open.json', itemWith({ a: { href: 'https://data.example/a' } }))
    const { context, open, shown } = stage()
    expect(await login(document, options, context, open)).toBe(0)
    expect(shown()).toBe('no credential for this document needs a login\n')
  })
})

it('a failing logout keeps no one else from being logged out', async () => {
  const { context, open, calls, shown } = stage({ states: { ada: 'valid', bob: 'valid' } })
  const logins = await open()
  const failing: Logins = {
    ...logins,
    logout: async (credential) => {
      await logins.logout(credential)
      if (credential === 'ada') throw new NetworkError('HTTP_503', 'no')
    },
  }
  await expect(logout(undefined, { ...options, all: true }, context, async () => failing)).rejects.toMatchObject({ code: 'HTTP_503' })
  expect(calls).toEqual(['logout ada', 'logout bob'])
  expect(shown()).toBe('"ada" is logged out here, but revocation failed: HTTP_503\n"bob" is logged out\n')
})

describe('the screen', () => {
  const prompt = {
    credential: 'ada',
    verificationUri: 'https://xn--bcher-kva.example/device',
    userCode: 'WDJB\x1b[2J-MJHT',
    verificationUriComplete: 'https://identity.example/device?user_code=WDJB-MJHT',
    expiresAt: 600_000,
  }

  it('shows where to go, what to type, and how long that works', () => {
    expect(deviceText(prompt, 0)).toBe(
      [
        'to log in as "ada", open this URL on any device:',
        '  https://xn--bcher-kva.example/device (b\u00fccher.example)',
        'and enter the code  WDJB\\u{1b}[2J-MJHT',
        'or open  https://identity.example/device?user_code=WDJB-MJHT',
        'the code expires in 10 minutes',
      ].join('\n'),
    )
    expect(deviceText({ ...prompt, verificationUriComplete: undefined }, 599_000)).toMatch(/MJHT\nthe code expires in 1 second$/)
    expect(deviceText(prompt, 700_000)).toMatch(/0 seconds$/)
  })

  it('prints the address, also when no browser can be opened, and waits on loopback', async () => {
    const { context, open, ways, shown } = stage({ env: { SSH_TTY: '/dev/pts/1', DISPLAY: ':0', PATH: '/nowhere' } })
    await login('ada', { ...options, browser: true }, context, open)
    const redirection = await ways[0]?.redirect?.()
    expect(redirection?.uri).toMatch(/^http:\/\/127\.0\.0\.1:/)
    const answer = redirection?.answer('https://identity.example/authorize?state=s\x1b', () => true, { state: 's', record: '' })
    await expect.poll(shown).toContain('open this URL in a browser on this machine:\n  https://identity.example/authorize?state=s\\u{1b}\n')
    await fetch(`${redirection?.uri}?state=s&code=c`)
    expect((await answer)?.searchParams.get('code')).toBe('c')
    expect(shown()).not.toContain('being opened')
  })
})

describe('logout', () => {
  it('ends a login with the keys that were obtained with it', async () => {
    const { context, open, calls } = stage({ states: { ada: 'valid', eo: 'valid' } })
    expect(await logout(undefined, { credentials: withBucket }, context, open)).toBe(0)
    expect(calls).toEqual(['logout ada'])
  })

  it('removes the tokens of the credential, of the only one, of all', async () => {
    const one = stage({ states: { bob: 'expired' } })
    await logout('ada', options, one.context, one.open)
    await logout(undefined, options, one.context, one.open)
    expect(one.calls).toEqual(['logout ada', 'logout bob'])
    expect(one.shown()).toBe('"ada" is logged out\n"bob" is logged out\n')
    const two = stage({ states: { ada: 'valid', bob: 'valid' } })
    await expect(logout(undefined, options, two.context, two.open)).rejects.toMatchObject({
      code: 'USAGE',
      hint: 'give one of ada, bob, or --all',
    })
    await logout(undefined, { ...options, all: true }, two.context, two.open)
    expect(two.calls).toEqual(['logout ada', 'logout bob'])
  })

  it('logout has nothing to do for a credential without login', async () => {
    expect(await run(['logout', 'key', '--credentials', credentials])).toMatchObject({ code: 0, stderr: '"key" needs no login\n' })
  })

  it('logout has nothing to do when no one is logged in', async () => {
    const { context, open, calls, shown } = stage()
    expect(await logout(undefined, options, context, open)).toBe(0)
    expect([calls, shown()]).toEqual([[], 'no credential is logged in\n'])
  })

  it.each([
    [['logout', 'nobody'], 3],
    [['logout', 'ada', '--all'], 2],
  ])('%j is refused', async (argv, code) => {
    expect(await run([...argv, '--credentials', credentials])).toMatchObject({ code, stdout: '' })
  })
})

describe('status', () => {
  it('reports who is logged in, and how to', async () => {
    const { context, open, printed } = stage({ states: { bob: 'valid' } })
    expect(await status(options, context, open)).toBe(0)
    expect(printed().replace(/ \((?:in )?\d+ \w+(?: ago)?\)/, '')).toBe(
      [
        'ada  oauth2 authorizationCode  not logged in: stac-auth login ada',
        'bob  oauth2 authorizationCode  valid until 2026-07-01T10:00:00.000Z, refreshed when needed, scopes read\n',
      ].join('\n'),
    )
  })

  it('says what makes a credential where none has a login', async () => {
    const { context, printed } = stage({})
    const nobody: Pick<Logins, 'status'> = { status: async () => [] }
    expect(await status(options, context, async () => nobody as Logins)).toBe(0)
    expect(printed()).toContain('no credential uses tokens; stac-auth setup DOC')
  })

  it('prints a list for programs', async () => {
    const { context, open, printed } = stage({ states: { ada: 'expired' } })
    await status({ ...options, json: true }, context, open)
    expect(JSON.parse(printed())[0]).toEqual({
      credential: 'ada',
      type: 'oauth2',
      flow: 'authorizationCode',
      state: 'expired',
      refreshable: false,
      persistent: true,
      expiresAt: '2026-07-01T10:00:00.000Z',
      scopes: ['read'],
    })
  })
})
