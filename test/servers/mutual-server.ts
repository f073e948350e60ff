/**
 * Mutual authentication (RFC 8120 §11) with `iso-kam3-dl-2048-sha256` (RFC 8121), strict about every parameter. Its arithmetic
 * is that of OpenSSL. It answers as the server of one realm, without a socket.
 */
import { createDiffieHellman, createHash, getDiffieHellman, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Answer, Inquiry } from './answering-server.ts'

export type MutualStep = 'init' | 'exchange' | 'verified'

export interface MutualServerOptions {
  /** Prepared name → prepared password. */
  readonly users: Readonly<Record<string, string>>
  readonly realm?: string
  /** `auth-scope`; left out where absent, which means the origin. */
  readonly scope?: string
  /** What clients see as its origin; default: `http` and the header `Host`. */
  readonly origin?: string
  readonly algorithm?: string
  readonly validation?: string
  readonly limits?: { readonly ncMax?: number; readonly ncWindow?: number; readonly time?: number; readonly path?: string }
  /** By `sid`; clear it to lose them all. */
  readonly sessions?: Map<string, MutualServerSession>
  /** Changes an answer. */
  readonly answer?: (answer: Answer, step: MutualStep) => Answer
}

export interface MutualServerSession {
  state: 'key exchanging' | 'authenticated' | 'rejected' | 'inactive'
  /** Absent for a user who does not exist: nobody is to know. */
  readonly octets?: Buffer
  readonly seen: Set<number>
}

const ALGORITHM = 'iso-kam3-dl-2048-sha256'
const PRIME_BYTES = getDiffieHellman('modp14').getPrime()
/** Made once: some versions of Node look for a quarter of a second whether the prime is one. */
const group = createDiffieHellman(PRIME_BYTES, 2)
const Q = number(PRIME_BYTES)
const R = (Q - 1n) / 2n

/** Answers requests: 401 until a user has proved to know a password, then 200 with the server's own proof. */
export function mutualServer({ users, realm = 'files', scope, ...options }: MutualServerOptions) {
  const { algorithm = ALGORITHM, validation = 'host', limits = {}, sessions = new Map(), answer = (one) => one } = options
  const { ncMax = 1024, ncWindow = 128, time = 300, path } = limits
  const verifiers = new Map<string, bigint>()
  const common = `version=1, algorithm=${algorithm}, validation=${validation}${scope ? `, auth-scope="${scope}"` : ''}, realm="${realm}"`
  const refuse = (params: string, step: MutualStep) =>
    answer({ status: 401, headers: { 'www-authenticate': `Mutual ${common}, ${params}` } }, step)
  const init = (reason: string) => refuse(`reason=${reason}`, 'init')

  /** J(pi). */
  function verifierOf(user: string, origin: string): bigint | undefined {
    const password = Object.hasOwn(users, user) ? users[user] : undefined
    if (password === undefined) return undefined
    const salt = Buffer.concat([algorithm, scope ?? origin, realm, user].map((text) => vs(Buffer.from(text))))
    const account = salt.toString('latin1')
    const known = verifiers.get(account) ?? power(2n, number(pbkdf2Sync(password, salt, 16_384, 32, 'sha256')))
    verifiers.set(account, known)
    return known
  }

  function begin(params: Params, origin: string): Answer {
    const user = params.user ?? decodeURIComponent(params['user*'] ?? '')
    const kc1 = bytesOf(params.kc1, 256)
    if (!kc1 || user === '' || number(kc1) <= 1n || number(kc1) >= Q - 1n) return init('invalid-parameters')
    const verifier = verifierOf(user, origin)
    const secret = (number(randomBytes(256)) % (R - 1n)) + 1n
    const t1 = number(sha256(Buffer.of(1), kc1))
    const ks1 = octets(power(((verifier ?? 4n) * power(number(kc1), t1)) % Q, secret))
    const t2 = number(sha256(Buffer.of(2), kc1, ks1))
    const z = octets(power((number(kc1) * power(2n, t2)) % Q, secret))
    const sid = randomBytes(16).toString('hex')
    const known = verifier === undefined ? {} : { octets: Buffer.concat([kc1, ks1, z]) }
    sessions.set(sid, { state: 'key exchanging', ...known, seen: new Set() })
    const bounds = `nc-max=${ncMax}, nc-window=${ncWindow}, time=${time}${path ? `, path="${path}"` : ''}`
    return refuse(`sid=${sid}, ks1="${ks1.toString('base64')}", ${bounds}`, 'exchange')
  }

  function finish({ sid = '', ...params }: Params, origin: string): Answer {
    const session = sessions.get(sid)
    const [nc, vkc] = [Number(params.nc), bytesOf(params.vkc, 32)]
    if (!session || session.state === 'inactive') return init('stale-session')
    if (session.state === 'rejected') return init('auth-failed')
    if (nc > ncMax || nc <= Math.max(0, ...session.seen) - ncWindow || session.seen.has(nc)) {
      session.state = 'inactive'
      return init('stale-session')
    }
    const proof = (tag: number) => sha256(Buffer.of(tag), session.octets ?? randomBytes(32), vi(nc), vs(Buffer.from(withPort(origin))))
    if (!vkc || !timingSafeEqual(vkc, proof(4))) {
      session.state = 'rejected'
      return init('auth-failed')
    }
    session.state = 'authenticated'
    session.seen.add(nc)
    const info = `version=1, sid=${sid}, vks="${proof(3).toString('base64')}"`
    return answer({ status: 200, headers: { 'authentication-info': info }, body: 'data' }, 'verified')
  }

  return ({ headers }: Pick<Inquiry, 'headers'>): Answer => {
    if (headers.authorization === undefined) return init('initial')
    const origin = options.origin ?? `http://${headers.host}`
    const params = paramsOf(headers.authorization)
    const isOurs = params?.algorithm === algorithm && params.validation === validation && params['auth-scope'] === scope
    if (!params || !isOurs || params.realm !== realm) return init('invalid-parameters')
    return params.kc1 === undefined ? finish(params, origin) : begin(params, origin)
  }
}

type Params = Partial<Record<string, string>>

/** What each parameter looks like (§3.2), and which ones each message has (§4.2, §4.4). */
const FORMS: Readonly<Record<string, RegExp>> = {
  version: /^1$/,
  algorithm: /^[a-z0-9][a-z0-9_-]*$/,
  validation: /^[a-z0-9][a-z0-9_-]*$/,
  'auth-scope': /^"[!-~]+"$/,
  realm: /^"[^"\\]*"$/,
  user: /^"[ !#-[\]-~]+"$/,
  'user*': /^UTF-8''[!#$&+.^_`|~0-9A-Za-z%-]*%[!#$&+.^_`|~0-9A-Za-z%-]*$/,
  kc1: /^"[A-Za-z0-9+/]{342}=="$|^"[A-Za-z0-9+/]{343}="$|^"[A-Za-z0-9+/]{344}"$/,
  sid: /^(?:[0-9a-f]{2})+$/,
  nc: /^(?:0|[1-9][0-9]*)$/,
  vkc: /^"[A-Za-z0-9+/]{43}="$/,
}
const COMMON = ['version', 'algorithm', 'validation', 'realm']
const MESSAGES = [
  ['user', 'kc1'],
  ['user*', 'kc1'],
  ['sid', 'nc', 'vkc'],
].map((names) => [...COMMON, ...names].sort().join())

function paramsOf(authorization: string): Params | undefined {
  const [, list = ''] = /^Mutual (.+)$/.exec(authorization) ?? []
  const pairs = list.split(/, (?=[a-z0-9-]+\*?=)/).map((pair) => /^([^=]+)=(.*)$/.exec(pair) ?? [])
  if (pairs.some(([, name = '', value = '']) => !FORMS[name]?.test(value))) return undefined
  const params = Object.fromEntries(pairs.map(([, name, value = '']) => [name, value.replace(/^"|"$|^UTF-8''/g, '')]))
  const names = Object.keys(params).filter((name) => name !== 'auth-scope')
  return Object.keys(params).length === pairs.length && MESSAGES.includes(names.sort().join()) ? params : undefined
}

function power(base: bigint, exponent: bigint): bigint {
  group.setPrivateKey(octets(exponent))
  return number(group.computeSecret(octets(base)))
}

function number(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex')}`)
}

function octets(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(512, '0'), 'hex')
}

function sha256(...parts: readonly Buffer[]): Buffer {
  return createHash('sha256').update(Buffer.concat(parts)).digest()
}

function vi(value: number): Buffer {
  return value < 128 ? Buffer.of(value) : Buffer.of(128 + (value >> 7), value & 127)
}

function vs(bytes: Buffer): Buffer {
  return Buffer.concat([vi(bytes.length), bytes])
}

/** Bytes whose base64 is in its only right form. */
function bytesOf(text: string | undefined, length: number): Buffer | undefined {
  const bytes = Buffer.from(text ?? '', 'base64')
  return bytes.length === length && bytes.toString('base64') === text ? bytes : undefined
}

function withPort(origin: string): string {
  return /:\d+$/.test(origin) ? origin : `${origin}:${origin.startsWith('https:') ? 443 : 80}`
}
