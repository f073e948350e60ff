/** The token store in a real Redis: one token request for all workers, no refresh token sent twice, nothing readable in it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { SessionStore } from '../../src/auth/session.ts'
import { type TokenRedis, type TokenRedisOptions, tokenRedis } from '../../src/node/tokens/token-redis.ts'
import { temporaryFolder } from '../cli/folder.ts'
import { type Peer, startPeer } from './peer.ts'
import type { RedisFacts } from './redis-facts.ts'
import { startProvider } from './rotating-provider.ts'

const WORKER = fileURLToPath(new URL('scripts/token-worker.mjs', import.meta.url))
const BIN = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url))
const folder = await temporaryFolder()
const children: ChildProcess[] = []
const opened: TokenRedis[] = []
let peer: Peer<RedisFacts> | undefined
let facts: RedisFacts
let admin: Redis

beforeAll(async () => {
  peer = await startPeer<RedisFacts>('redis')
  if (!('facts' in peer)) return
  facts = peer.facts
  admin = new Redis({ ...facts })
}, 150_000)
afterAll(async () => {
  admin?.disconnect()
  if (peer && 'stop' in peer) await peer.stop()
})
beforeEach(async ({ skip }) => {
  if (peer && 'missing' in peer) skip(peer.missing)
  await admin.flushall()
})
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close()
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
})

const KEY = 'a'.repeat(64)
const secretKey = randomBytes(32).toString('base64')
const options = (more: Partial<TokenRedisOptions> = {}): TokenRedisOptions => ({
  url: `redis://${facts.host}:${facts.port}`,
  password: facts.password,
  key: secretKey,
  ...more,
})

function open(more: Partial<TokenRedisOptions> = {}): TokenRedis {
  const store = tokenRedis(options(more))
  opened.push(store)
  return store
}

/** Starts a worker; resolves to what it printed when it has ended. */
function worker(argument: object): { readonly child: ChildProcess; readonly printed: Promise<string> } {
  const child = spawn(process.execPath, [WORKER, JSON.stringify({ redis: options(), ...argument })], { stdio: ['pipe', 'pipe', 'inherit'] })
  children.push(child)
  let text = ''
  child.stdout.on('data', (chunk) => {
    text += chunk
  })
  return { child, printed: once(child, 'close').then(() => text) }
}

/** Everything that Redis holds, as somebody with read access sees it. */
async function dump(): Promise<string> {
  const names = await admin.keys('*')
  const values = await Promise.all(names.map(async (name) => ((await admin.type(name)) === 'hash' ? admin.hgetall(name) : admin.get(name))))
  return JSON.stringify([names, values])
}

describe('workers that share a token store in Redis', () => {
  it('twenty-four workers that start without a token make one token request', async () => {
    const provider = await startProvider({ lifetime: 3600 })
    const runs = Array.from({ length: 24 }, () => worker(provider.cold).printed)
    const outcomes = await Promise.all(runs).finally(provider.close)
    expect(outcomes.map((text) => JSON.parse(text))).toEqual(Array.from({ length: 24 }, () => ({ 200: 1 })))
    expect(provider.counts).toMatchObject({ clientCredentials: 1, refused: 0 })
    const stored = await dump()
    for (const secret of [...provider.issued, ...Object.values(provider.secrets)]) expect(stored).not.toContain(secret)
    expect(stored).not.toMatch(/127\.0\.0\.1|oauth|token_type|Bearer/)
  }, 60_000)

  it('refresh tokens that rotate each two seconds are never sent twice, and the login lasts', async () => {
    const provider = await startProvider({ lifetime: 2 })
    const runs = Array.from({ length: 6 }, () => worker({ ...provider.login, milliseconds: 12_000 }).printed)
    const outcomes = await Promise.all(runs).finally(provider.close)
    for (const text of outcomes) expect(Object.keys(JSON.parse(text))).toEqual(['200'])
    expect(provider.counts).toMatchObject({ logins: 1, replays: 0 })
    expect(provider.counts.refreshes).toBeGreaterThanOrEqual(4)
    expect(provider.counts.refreshes).toBeLessThanOrEqual(10)
  }, 60_000)

  it('the lock of a worker that was killed is free after its time', async () => {
    const lockTime = 1500
    const { child } = worker({ redis: options({ lockTime }), hold: { key: KEY, text: 'never' } })
    expect(String((await once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data'))[0])).toBe('held\n')
    child.kill('SIGKILL')
    const store = open({ lockTime })
    const begun = Date.now()
    await store.exclusively(KEY, () => store.write(KEY, 'mine'))
    expect(Date.now() - begun).toBeGreaterThan(500)
    expect(await store.read(KEY)).toBe('mine')
  })

  it('a worker that was stopped for longer than its lock does not overwrite what came after', async () => {
    const lockTime = 1500
    const { child, printed } = worker({ redis: options({ lockTime }), hold: { key: KEY, text: 'late' } })
    await once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data')
    child.kill('SIGSTOP')
    const store = open({ lockTime })
    await store.exclusively(KEY, () => store.write(KEY, 'newer'))
    child.kill('SIGCONT')
    child.stdin?.write('go\n')
    await printed
    expect(child.exitCode).toBe(0)
    expect(await store.read(KEY)).toBe('newer')
  })

  it('a worker that waits takes the token that is stored while another one holds the lock', async () => {
    const [slow, quick] = [open(), open()]
    const reading = () => quick.read(KEY)
    const told = await slow.exclusively(KEY, async () => {
      const waiting = quick.exclusively(KEY, async () => 'the lock', undefined, reading)
      await slow.write(KEY, 'the token')
      return waiting
    })
    expect(told).toBe('the token')
  })

  it('a worker that removed an entry late does not remove a newer one', async () => {
    const [slow, quick] = [open({ lockTime: 300 }), open()]
    let [go, entered] = [() => {}, () => {}]
    const waiting = new Promise<void>((resolve) => {
      go = resolve
    })
    const inside = new Promise<void>((resolve) => {
      entered = resolve
    })
    // Its lock is not prolonged: the entry of the lock is taken away.
    const late = slow.exclusively(KEY, async () => {
      await admin.del(`stac-auth:tokens:${KEY}:lock`)
      entered()
      await waiting
      await slow.remove(KEY)
    })
    await inside
    await quick.exclusively(KEY, () => quick.write(KEY, 'newer'))
    go()
    await late
    expect(await quick.read(KEY)).toBe('newer')
  })
})

describe('an entry in Redis', () => {
  const code = (error: unknown) => (error as { code: string }).code
  const failure = (promise: Promise<unknown>) => promise.then(() => 'nothing', code)

  it('is removed so that nothing of it can be read', async () => {
    const store = open()
    await store.write(KEY, 'text')
    expect(await store.read(KEY)).toBe('text')
    await store.remove(KEY)
    expect(await store.read(KEY)).toBeUndefined()
    expect(await dump()).not.toContain('"text"')
  })

  it('cannot be read with another key, and can after a change of keys', async () => {
    const [older, newer] = [secretKey, randomBytes(32).toString('base64')]
    await open({ key: older }).write(KEY, 'text')
    expect(await failure(open({ key: newer }).read(KEY))).toBe('CREDENTIAL_VALUE_INVALID')
    const both = open({ key: [newer, older] })
    expect(await both.read(KEY)).toBe('text')
    await both.write(KEY, 'text')
    expect(await open({ key: newer }).read(KEY)).toBe('text')
  })

  it('is refused when it was changed, cut off or moved to another name', async () => {
    const other = 'b'.repeat(64)
    const store = open()
    await store.write(KEY, 'text')
    const sealed = (await admin.hget(`stac-auth:tokens:${KEY}`, 'text')) ?? ''
    await admin.hset(`stac-auth:tokens:${other}`, 'text', sealed)
    expect(await failure(store.read(other))).toBe('CACHE_UNSAFE')
    for (const broken of [`${sealed.slice(0, -2)}AA`, sealed.slice(0, 20), `2${sealed.slice(1)}`, 'rubbish', '']) {
      await admin.hset(`stac-auth:tokens:${KEY}`, 'text', broken)
      expect(await failure(store.read(KEY)), broken).toBe('CACHE_UNSAFE')
    }
  })

  it.each(['', 'c2hvcnQ=', 'x'.repeat(43), `${'A'.repeat(43)}==`])('is not written with the malformed key "%s"', async (key) => {
    const isMalformed = key !== 'x'.repeat(43)
    expect(await failure(open({ key }).write(KEY, 'text'))).toBe(isMalformed ? 'CREDENTIAL_VALUE_INVALID' : 'nothing')
  })

  it('is not written to a server that is full, which is noticed before a refresh token is used', async () => {
    const store = open()
    await store.write(KEY, 'text')
    await admin.config('SET', 'maxmemory', '1')
    try {
      expect(await failure((store as SessionStore & { reserve: NonNullable<SessionStore['reserve']> }).reserve(KEY, 1000))).toBe(
        'CACHE_NOT_WRITABLE',
      )
    } finally {
      await admin.config('SET', 'maxmemory', '0')
    }
    expect(await store.read(KEY)).toBe('text')
  })

  it('needs the password, and a user of the access control list who may only touch these keys is enough', async () => {
    expect(await failure(open({ password: 'wrong' }).read(KEY))).toBe('AUTH_REJECTED')
    await admin.acl(
      'SETUSER',
      'worker',
      'on',
      '>worker-password',
      'resetkeys',
      '~stac-auth:tokens:*',
      '+@read',
      '+@write',
      '+@scripting',
      '+@connection',
      '+info',
    )
    const store = open({ username: 'worker', password: 'worker-password' })
    await store.exclusively(KEY, () => store.write(KEY, 'text'))
    expect(await store.read(KEY)).toBe('text')
  })

  it('is there again after the connection was lost', async () => {
    const store = open()
    await store.write(KEY, 'text')
    await admin.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    expect(await store.read(KEY)).toBe('text')
  })
})

describe('commands with a token store in the credential file', () => {
  const stored = async (more: object) => {
    const path = join(folder, `${randomUUID()}.json`)
    const tokens = { redis: `redis://${facts.host}:${facts.port}`, password: { env: 'REDIS_PASSWORD' }, key: { env: 'TOKENS_KEY' } }
    await writeFile(path, JSON.stringify({ version: 1, credentials: [], tokens, ...more }), { mode: 0o600 })
    return path
  }
  async function cli(argv: readonly string[], env: object = {}) {
    const child = spawn(process.execPath, [BIN, ...argv], {
      env: { PATH: process.env.PATH, HOME: folder, REDIS_PASSWORD: facts.password, TOKENS_KEY: secretKey, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [stdout, stderr] = await Promise.all([child.stdout.toArray(), child.stderr.toArray(), once(child, 'close')])
    return { code: child.exitCode, stdout: stdout.join(''), stderr: stderr.join('') }
  }

  it('fetch uses the tokens of the store, which all machines share', async () => {
    const provider = await startProvider({ lifetime: 3600 })
    const credential = { ...provider.cold.credential, clientSecret: { env: 'CLIENT_SECRET' } }
    const path = await stored({ credentials: [credential] })
    const item = {
      type: 'Feature',
      stac_version: '1.1.0',
      stac_extensions: ['https://stac-extensions.github.io/authentication/v1.1.0/schema.json'],
      id: 'item',
      geometry: null,
      properties: { datetime: '2026-01-01T00:00:00Z', 'auth:schemes': { oauth: provider.cold.scheme } },
      links: [],
      assets: { data: { href: provider.cold.href, 'auth:refs': ['oauth'] } },
    }
    const document = join(folder, 'item.json')
    await writeFile(document, JSON.stringify(item))
    const argv = ['fetch', document, '--asset', 'data', '--credentials', path]
    const machines = [join(folder, 'one'), join(folder, 'two')]
    for (const HOME of machines) {
      const outcome = await cli(argv, { HOME, CLIENT_SECRET: provider.secrets.client })
      expect(outcome, outcome.stderr).toMatchObject({ code: 0 })
    }
    expect(provider.counts.clientCredentials).toBe(1)
    provider.close()
  })

  it('doctor says that the store can be used, and what is wrong where it cannot', async () => {
    const path = await stored({})
    const good = await cli(['doctor', '--credentials', path, '--json'])
    expect(JSON.stringify(JSON.parse(good.stdout))).toContain('entries are encrypted')
    const wrong = await cli(['doctor', '--credentials', path, '--json'], { REDIS_PASSWORD: 'wrong' })
    expect(wrong.stdout).toContain('AUTH_REJECTED')
    const malformed = await cli(['doctor', '--credentials', path, '--json'], { TOKENS_KEY: 'short' })
    expect(malformed.stdout).toContain('openssl rand -base64 32')
    for (const { stdout, stderr } of [good, wrong, malformed])
      for (const secret of [facts.password, secretKey]) expect(stdout + stderr).not.toContain(secret)
  })
})
