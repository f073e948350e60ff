/** SCRAM over HTTP (RFC 7804), strict about every byte of RFC 5802. It answers as the server of one realm, without a socket. */
import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Answer, Inquiry } from './answering-server.ts'

export interface ScramServerOptions {
  /** Prepared name → prepared password. */
  readonly users: Readonly<Record<string, string>>
  readonly mechanism?: 'SCRAM-SHA-1' | 'SCRAM-SHA-256'
  readonly realm?: string
  readonly iterations?: number
  /** Changes a message of the server, before it is encoded. */
  readonly say?: (message: string, step: 'first' | 'final') => string
  /** Changes an answer. */
  readonly answer?: (answer: Answer, step: 'offer' | 'first' | 'final') => Answer
}

interface Started {
  readonly user: string
  readonly nonce: string
  /** `client-first-message-bare` and `server-first-message`. */
  readonly messages: string
}

const HASH = { 'SCRAM-SHA-1': 'sha1', 'SCRAM-SHA-256': 'sha256' } as const
const LENGTH = { 'SCRAM-SHA-1': 20, 'SCRAM-SHA-256': 32 } as const
const CLIENT_FIRST = /^n,,(n=((?:[^=,]|=2C|=3D)+),r=([\x21-\x2b\x2d-\x7e]{18,}))$/
const CLIENT_FINAL = /^(c=biws,r=([\x21-\x2b\x2d-\x7e]+)),p=([A-Za-z0-9+/]+=*)$/

/** Answers requests: 401 until a user has proved to know a password, then 200 with the server's own proof. */
export function scramServer({ users, mechanism = 'SCRAM-SHA-256', realm = 'files', ...options }: ScramServerOptions) {
  const { iterations = 4096, say = (message) => message, answer = (one) => one } = options
  const salts = new Map(Object.keys(users).map((user) => [user, randomBytes(16)]))
  const started = new Map<string, Started>()
  const hash = HASH[mechanism]
  const hmac = (key: Buffer, text: string) => createHmac(hash, key).update(text).digest()
  const refuse = (params: string, step: 'offer' | 'first') =>
    answer({ status: 401, headers: { 'www-authenticate': `${mechanism} ${params}` } }, step)
  const offer = () => refuse(`realm="${realm}"`, 'offer')

  function begin(params: Params): Answer {
    const [, bare, name = '', nonce] = CLIENT_FIRST.exec(decoded(params.data)) ?? []
    const user = name.replaceAll('=2C', ',').replaceAll('=3D', '=')
    const salt = salts.get(user)
    if (params.realm !== realm || bare === undefined) return offer()
    const sid = randomBytes(9).toString('base64url')
    if (!salt) return refuse(`sid=${sid}, data=${encoded('e=unknown-user')}`, 'first')
    const full = `${nonce}${randomBytes(12).toString('base64url')}`
    const message = say(`r=${full},s=${salt.toString('base64')},i=${iterations}`, 'first')
    started.set(sid, { user, nonce: full, messages: `${bare},${message}` })
    return refuse(`sid=${sid}, data=${encoded(message)}`, 'first')
  }

  function finish({ sid = '', data }: Params): Answer {
    const session = started.get(sid)
    started.delete(sid)
    const [, without, nonce, proof = ''] = CLIENT_FINAL.exec(decoded(data)) ?? []
    if (!session || without === undefined || nonce !== session.nonce) return offer()
    const salted = pbkdf2Sync(users[session.user] ?? '', salts.get(session.user) ?? '', iterations, LENGTH[mechanism], hash)
    const messages = `${session.messages},${without}`
    const stored = createHash(hash).update(hmac(salted, 'Client Key')).digest()
    const signature = hmac(stored, messages)
    const key = Buffer.from(proof, 'base64').map((byte, index) => byte ^ (signature[index] ?? 0))
    if (!same(createHash(hash).update(key).digest(), stored)) return refuse(`sid=${sid}, data=${encoded('e=invalid-proof')}`, 'first')
    const message = say(`v=${hmac(hmac(salted, 'Server Key'), messages).toString('base64')}`, 'final')
    return answer({ status: 200, headers: { 'authentication-info': `sid=${sid}, data=${encoded(message)}` }, body: 'data' }, 'final')
  }

  return (request: Pick<Inquiry, 'headers'>): Answer => {
    const params = paramsOf(request.headers.authorization, mechanism)
    if (!params?.data) return offer()
    return params.sid === undefined ? begin(params) : finish(params)
  }
}

type Params = Partial<Record<'realm' | 'sid' | 'data', string>>

function paramsOf(authorization: string | undefined, mechanism: string): Params | undefined {
  const [, word, list = ''] = /^(\S+) (.+)$/.exec(authorization ?? '') ?? []
  if (word !== mechanism) return undefined
  const pairs = list.split(', ').map((param) => /^(realm|sid|data)=(?:"([^"\\]*)"|([^\s,"]+))$/.exec(param))
  if (pairs.some((pair) => pair === null)) return undefined
  const params = Object.fromEntries(pairs.map((pair) => [pair?.[1], pair?.[2] ?? pair?.[3]]))
  return Object.keys(params).length === pairs.length ? params : undefined
}

const encoded = (text: string) => Buffer.from(text).toString('base64')

/** Text whose base64 is in its only right form. */
function decoded(data = ''): string {
  const text = Buffer.from(data, 'base64').toString()
  return encoded(text) === data ? text : ''
}

function same(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}
