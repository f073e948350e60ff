/** Digest (RFC 7616) as strict as it can be: no nonce count twice, no foreign `uri`, bodies checked, with every proof of its own. */
import { createHash, randomBytes } from 'node:crypto'
import type { Answer, Inquiry } from './answering-server.ts'

export interface DigestOptions {
  readonly username: string
  readonly password: string
  readonly realm?: string
  /** One challenge each, in this order; `-sess` as well. */
  readonly algorithms?: readonly string[]
  /** Empty for the form of RFC 2069. */
  readonly qop?: 'auth' | 'auth-int' | 'auth,auth-int' | ''
  readonly userhash?: boolean
  /** Further parameters of each challenge. */
  readonly more?: string
  /** How often a nonce can be used before it is too old. */
  readonly uses?: number
  /** Sends the next nonce ahead. */
  readonly nextnonce?: boolean
  /** What it proves itself with. */
  readonly rspauth?: 'right' | 'wrong' | 'none'
  /** Says no `charset`, and means this one. */
  readonly unnamed?: 'utf8' | 'latin1'
  /** Hands out one nonce only. */
  readonly oneNonce?: boolean
  /** How many nonces it remembers: a new one takes the place of the oldest. */
  readonly slots?: number
  /** Counts must rise; or each only be new. */
  readonly counts?: 'rising' | 'new'
  /** What a count is refused with that was seen before. */
  readonly replay?: 'stale' | 'challenge'
}

interface Nonce {
  readonly algorithm: string
  readonly seen: Set<string>
  highest: string
  /** Of the first answer, which `-sess` binds the account to. */
  first?: { readonly nonce: string; readonly cnonce: string }
}

type Fields = Readonly<Record<string, string>>

/** Answers 200 to whoever knows the password, 400 to an answer for another address, 401 to all others. */
export function digestServer(options: DigestOptions): (request: Inquiry) => Answer {
  const nonces = new Map<string, Nonce>()
  const { algorithms = ['MD5'], qop = 'auth', uses = Number.POSITIVE_INFINITY, nextnonce = false, rspauth = 'right' } = options
  const { oneNonce = false, slots = Number.POSITIVE_INFINITY, unnamed } = options

  function challenge(stale: boolean): Answer {
    const list = algorithms.map((algorithm) => {
      const nonce = fresh(algorithm)
      const parts = [`realm="${realmOf(options)}"`, `nonce="${nonce}"`, `algorithm=${algorithm}`, 'opaque="o\\"o"']
      if (!unnamed) parts.push('charset=UTF-8')
      if (qop) parts.push(`qop="${qop}"`)
      if (options.userhash) parts.push('userhash=true')
      if (stale) parts.push('stale=true')
      return `Digest ${[...parts, ...(options.more ? [options.more] : [])].join(', ')}`
    })
    return { status: 401, headers: { 'www-authenticate': Buffer.from(list.join(', ')).toString('latin1') } }
  }

  function fresh(algorithm: string, first?: Nonce['first']): string {
    const [old] = oneNonce ? nonces.keys() : []
    if (old) return old
    const nonce = randomBytes(12).toString('hex')
    nonces.set(nonce, { algorithm, seen: new Set(), highest: '', ...(first && { first }) })
    const [oldest = ''] = nonces.keys()
    if (nonces.size > slots) nonces.delete(oldest)
    return nonce
  }

  function info(request: Inquiry, fields: Fields, nonce: Nonce): Record<string, string> {
    const parts: string[] = []
    const proof = expected(options, fields, nonce, `:${request.target}`)
    if (rspauth !== 'none' && fields.qop === 'auth') parts.push(`rspauth="${rspauth === 'right' ? proof : proof.replace(/^./, 'x')}"`)
    if (nextnonce) parts.push(`nextnonce="${fresh(nonce.algorithm, nonce.first)}"`)
    return parts.length > 0 ? { 'authentication-info': parts.join(', ') } : {}
  }

  return (request) => {
    const fields = fieldsOf(request.headers.authorization ?? '', unnamed)
    const nonce = nonces.get(fields?.nonce ?? '')
    if (!fields || !nonce) return challenge(false)
    if (fields.uri !== request.target) return { status: 400 }
    const { nonce: text = '', cnonce = '' } = fields
    nonce.first ??= { nonce: text, cnonce }
    if (!isRight(options, request, fields, nonce)) return challenge(false)
    if (qop && !isFirstUse(nonce, fields, options.counts)) return challenge(options.replay === 'stale')
    if (nonce.seen.size > uses) return challenge(true)
    return { status: 200, body: 'data', headers: info(request, fields, nonce) }
  }
}

function isFirstUse(nonce: Nonce, { nc = '' }: Fields, counts: DigestOptions['counts']): boolean {
  const { seen, highest } = nonce
  const isNew = /^[0-9a-f]{8}$/.test(nc) && nc !== '00000000' && !seen.has(nc) && (counts !== 'rising' || nc > highest)
  seen.add(nc)
  if (isNew && nc > highest) nonce.highest = nc
  return isNew
}

function isRight(options: DigestOptions, { method, target, body }: Inquiry, fields: Fields, nonce: Nonce): boolean {
  const { qop = 'auth' } = options
  if (fields.realm !== realmOf(options) || fields.opaque !== 'o"o' || fields.algorithm !== nonce.algorithm) return false
  if (qop ? !qop.split(',').includes(fields.qop ?? '') : fields.qop !== undefined) return false
  if (!isUser(options, fields, nonce)) return false
  const bound = fields.qop === 'auth-int' ? `:${hash(nonce.algorithm, body)}` : ''
  return fields.response === expected(options, fields, nonce, `${method}:${target}${bound}`)
}

function isUser(options: DigestOptions, fields: Fields, { algorithm }: Nonce): boolean {
  const { username, userhash, unnamed } = options
  if (userhash) return fields.userhash === 'true' && fields.username === hash(algorithm, `${username}:${realmOf(options)}`, unnamed)
  if (unnamed && algorithm === 'MD5') return fields.username === username && fields['username*'] === undefined
  if (fields['username*'] === undefined) return fields.username === username
  return fields.username === undefined && fields['username*'] === `UTF-8''${encodeURIComponent(username)}`
}

function expected(options: DigestOptions, { qop, nc, cnonce, nonce }: Fields, { algorithm, first }: Nonce, action: string): string {
  const account = hash(algorithm, `${options.username}:${realmOf(options)}:${options.password}`, options.unnamed)
  const secret = /-sess$/i.test(algorithm) ? hash(algorithm, `${account}:${first?.nonce}:${first?.cnonce}`) : account
  const uses = qop ? [nonce, nc, cnonce, qop] : [nonce]
  return hash(algorithm, [secret, ...uses, hash(algorithm, action)].join(':'))
}

function hash(algorithm: string, text: string, encoding: 'utf8' | 'latin1' = 'utf8'): string {
  const name = { md5: 'md5', 'sha-256': 'sha256', 'sha-512-256': 'sha512-256' }[algorithm.toLowerCase().replace(/-sess$/, '')]
  return createHash(name ?? 'unknown')
    .update(text, encoding)
    .digest('hex')
}

function realmOf({ realm = 'files' }: DigestOptions): string {
  return realm
}

/** Header fields arrive as Latin-1. A field twice, or anything between two fields, is no answer. */
function fieldsOf(header: string, encoding: 'utf8' | 'latin1' = 'utf8'): Fields | undefined {
  const [, list] = /^Digest +(.*)$/.exec(Buffer.from(header, 'latin1').toString(encoding)) ?? []
  if (list === undefined) return undefined
  const fields: Record<string, string> = {}
  const rest = list.replace(
    /([\w*]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))(?:, |$)/g,
    (_all, name: string, quoted?: string, token?: string) => {
      fields[name] = name in fields ? '' : (quoted?.replace(/\\(.)/g, '$1') ?? token ?? '')
      return ''
    },
  )
  return rest === '' ? fields : undefined
}
