import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Redirection } from '../../src/auth/auth.ts'
import type { SessionStore } from '../../src/auth/session.ts'
import type { Warning } from '../../src/auth/strategy.ts'
import { sessionStorageStore } from '../../src/browser/stores.ts'
import { IntegrityError } from '../../src/errors.ts'
import { tokenFiles } from '../../src/node/tokens/token-files.ts'
import { tokenKeyring } from '../../src/node/tokens/token-keyring.ts'
import { temporaryFolder } from '../cli/folder.ts'
import { shown } from '../harness/canary.ts'
import { target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { FakeClock } from '../harness/fake-clock.ts'
import { script } from '../harness/scripted.ts'
import { AUTHORIZE_URL, DATA, entries, TOKEN_URL, victim } from '../harness/victim.ts'
import { disk } from './download/full-disk.ts'

vi.mock('node:fs/promises', async (original) => (await import('./download/full-disk.ts')).onFullDiskLater(await original()))

const base = await temporaryFolder()
let made = 0
let folder = ''
beforeEach(() => {
  disk.reset()
  folder = join(base, `${++made}`)
})

const F = `${DATA}f.tif`
const NOW = 1_800_000_000_000
const HOUR = 3_600_000
const wanted = target(
  { type: 'oauth2', flows: { authorizationCode: { authorizationUrl: AUTHORIZE_URL, tokenUrl: TOKEN_URL, scopes: {} } } },
  F,
)
const page: Redirection = {
  uri: 'http://127.0.0.1/',
  answer: async (url) => new URL(`http://127.0.0.1/?code=c&state=${new URL(url).searchParams.get('state')}`),
  close: async () => {},
}

/** A provider that takes each refresh token once and ends the login when one comes again (RFC 9700 §4.14.2), and data that it protects. */
function provider() {
  const asked: string[] = []
  let issued = 0
  let good: string | undefined
  const servers = script(async ({ url, headers, body }) => {
    if (url !== TOKEN_URL) return { status: headers.authorization === `Bearer access-${issued}` ? 200 : 401 }
    const { grant_type, refresh_token } = Object.fromEntries(new URLSearchParams(String(body)))
    asked.push(`${grant_type}`)
    const isRefused = grant_type === 'refresh_token' && refresh_token !== good
    if (isRefused) good = undefined
    if (isRefused) return { status: 400, body: { error: 'invalid_grant' } }
    issued++
    good = `refresh-${issued}`
    return { body: { access_token: `access-${issued}`, refresh_token: good, token_type: 'Bearer', expires_in: 3600 } }
  })
  return { servers, asked }
}

/** One login, and engines as of processes that follow each other: nothing but the store stays. */
function user(open: (onWarning: (warning: Warning) => void) => SessionStore) {
  const { servers, asked } = provider()
  const warnings: Warning[] = []
  let now = NOW
  const engine = () => {
    const onWarning = (warning: Warning) => void warnings.push(warning)
    const options = {
      credentials: entries.login,
      clock: new FakeClock({ now: () => now, waits: 'skipped' }),
      session: open(onWarning),
      onWarning,
    }
    return victim(options, servers).auth
  }
  const pass = (milliseconds: number) => {
    now += milliseconds
  }
  return { engine, asked, warnings, pass, login: () => engine().login('login', { redirect: async () => page }) }
}

/** A page's storage with room for so many characters. */
function pageStorage() {
  const texts = new Map<string, string>()
  const state = { room: 5_000_000 }
  const storage = {
    getItem: (name: string) => texts.get(name) ?? null,
    setItem: (name: string, text: string) => {
      const others = [...texts].filter(([other]) => other !== name).reduce((sum, [, { length }]) => sum + length, 0)
      if (others + text.length > state.room) throw new DOMException('the quota has been exceeded', 'QuotaExceededError')
      texts.set(name, text)
    },
    removeItem: (name: string) => void texts.delete(name),
  }
  return { storage, state, texts }
}

/** A keyring that can be locked. */
function keyring() {
  const passwords = new Map<string, string>()
  const state = { locked: false }
  class AsyncEntry {
    readonly #account: string
    constructor(_service: string, account: string) {
      this.#account = account
    }
    getPassword = async () => passwords.get(this.#account) ?? null
    setPassword = async (password: string) => {
      if (state.locked) throw new Error('locked')
      passwords.set(this.#account, password)
    }
    deletePassword = async () => passwords.delete(this.#account)
  }
  return { state, load: async () => ({ AsyncEntry }) }
}

/** Locks are small and find room; what would hold a token set does not. */
function noRoomForTexts(): void {
  disk.refuses = (step, path) => step === 'write' && path.endsWith('.tmp')
}

/** Stores whose place can be filled and emptied again. */
const places: readonly [string, () => { open: Parameters<typeof user>[0]; fill: () => void; empty: () => void }][] = [
  [
    'files on a full disk, which still takes empty ones',
    () => ({ open: (onWarning) => tokenFiles({ folder, onWarning }), fill: () => void (disk.room = 0), empty: () => disk.reset() }),
  ],
  [
    'files on a disk that has room for a lock and no more',
    () => ({ open: (onWarning) => tokenFiles({ folder, onWarning }), fill: noRoomForTexts, empty: () => disk.reset() }),
  ],
  [
    'files in a read-only folder',
    () => ({
      open: (onWarning) => tokenFiles({ folder, onWarning }),
      fill: () => {
        disk.code = 'EROFS'
        disk.refuses = (step, path) => step === 'make' && /\.(?:tmp|lock)/.test(path)
      },
      empty: () => disk.reset(),
    }),
  ],
  [
    'a keyring that is locked, with no room for files',
    () => {
      const { state, load } = keyring()
      return {
        open: (onWarning) => tokenKeyring({ folder, onWarning }, load),
        fill: () => {
          state.locked = true
          noRoomForTexts()
        },
        empty: () => {
          state.locked = false
          disk.reset()
        },
      }
    },
  ],
  [
    'the storage of a page whose quota is used up',
    () => {
      const { storage, state } = pageStorage()
      return {
        open: (onWarning) => sessionStorageStore({ storage, onWarning }),
        fill: () => void (state.room = 400),
        empty: () => void (state.room = 5_000_000),
      }
    },
  ],
  [
    'a store of the caller that knows nothing of reserving',
    () => {
      const texts = new Map<string, string>()
      const state = { full: false }
      const store: SessionStore = {
        read: async (key) => texts.get(key),
        write: async (key, text) => {
          if (state.full) throw new IntegrityError('DISK_FULL', 'no space is left')
          texts.set(key, text)
        },
        remove: async (key) => void texts.delete(key),
        exclusively: (_key, run) => run(),
      }
      return { open: () => store, fill: () => void (state.full = true), empty: () => void (state.full = false) }
    },
  ],
]

describe.each(places)('with %s', (_name, place) => {
  it('uses the access token to its end, then fails by CACHE_NOT_WRITABLE and keeps the refresh token', async () => {
    const { open, fill, empty } = place()
    const { engine, asked, warnings, pass, login } = user(open)
    await login()
    fill()
    pass(HOUR - 60_000)
    const auth = engine()
    for (let request = 0; request < 3; request++) expect((await auth.fetch(wanted)).status).toBe(200)
    expect(warnings.map(({ code }) => code)).toEqual(['CACHE_NOT_WRITABLE'])
    pass(120_000)
    const error = await failureOf(engine().fetch(wanted))
    expect(error).toMatchObject({
      code: 'CACHE_NOT_WRITABLE',
      credential: 'login',
      hint: expect.stringContaining('the login is still valid'),
    })
    expect(asked).toEqual(['authorization_code'])
    expect(`${shown(error)} ${shown(warnings)}`).not.toMatch(/(?:refresh|access)-1/)
    // The login is not lost: with room again, processes go on refreshing one after the other.
    empty()
    for (let life = 0; life < 3; life++) {
      expect((await engine().fetch(wanted)).status).toBe(200)
      pass(2 * HOUR)
    }
    expect(asked).toEqual(['authorization_code', 'refresh_token', 'refresh_token', 'refresh_token'])
  })
})

describe('with a store that can be written', () => {
  it('leaves no reserved file behind, used or not', async () => {
    const { engine, pass, login } = user(() => tokenFiles({ folder }))
    await login()
    for (let life = 0; life < 2; life++) {
      pass(2 * HOUR)
      expect((await engine().fetch(wanted)).status).toBe(200)
    }
    expect(await readdir(folder)).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.json$/)])
    const store = tokenFiles({ folder })
    await store.exclusively('a1'.repeat(32), async () => store.reserve?.('a1'.repeat(32), 10))
    expect(await readdir(folder)).toHaveLength(1)
  })

  it('keeps a new refresh token in the room that was reserved, although the disk is full by then', async () => {
    const { engine, asked, warnings, pass, login } = user((onWarning) => tokenFiles({ folder, onWarning }))
    await login()
    pass(2 * HOUR)
    const auth = engine()
    // Whatever is made after the first two files, the lock and the reserved one, finds no room.
    let files = 0
    disk.refuses = (step) => step === 'make' && ++files > 40
    expect((await auth.fetch(wanted)).status).toBe(200)
    disk.reset()
    pass(2 * HOUR)
    expect((await engine().fetch(wanted)).status).toBe(200)
    expect([asked, warnings]).toEqual([['authorization_code', 'refresh_token', 'refresh_token'], []])
  })

  it('gives the room of a page back', async () => {
    const { storage, texts } = pageStorage()
    const { engine, pass, login } = user(() => sessionStorageStore({ storage }))
    await login()
    pass(2 * HOUR)
    await engine().fetch(wanted)
    const store = sessionStorageStore({ storage })
    await store.exclusively('b', async () => store.reserve?.('b', 10))
    expect([...texts.keys()]).toEqual(['stac-auth:credentials', expect.stringMatching(/^stac-auth:[0-9a-f]{64}$/)])
  })
})

describe('where no person is needed', () => {
  it('repeats the grant in memory, and the refresh token that was kept stays unspent', async () => {
    const grants: string[] = []
    const servers = script(async ({ url, body }) => {
      if (url !== TOKEN_URL) return { status: 200 }
      grants.push(String(new URLSearchParams(String(body)).get('grant_type')))
      return { body: { access_token: `a${grants.length}`, refresh_token: `r${grants.length}`, token_type: 'Bearer', expires_in: 600 } }
    })
    let now = NOW
    const warnings: string[] = []
    const engine = () =>
      victim(
        {
          credentials: entries.oauth,
          clock: new FakeClock({ now: () => now, waits: 'skipped' }),
          session: tokenFiles({ folder, onWarning: ({ code }) => warnings.push(code) }),
        },
        servers,
      ).auth
    const own = target({ type: 'oauth2', flows: { clientCredentials: { tokenUrl: TOKEN_URL, scopes: {} } } }, F)
    await engine().fetch(own)
    now += HOUR
    disk.room = 0
    expect((await engine().fetch(own)).status).toBe(200)
    expect([grants, warnings]).toEqual([['client_credentials', 'client_credentials'], ['CACHE_MEMORY_ONLY']])
  })
})
