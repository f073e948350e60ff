/** Protected resources of OAuth 1.0 (RFC 5849 §3.2): every parameter is checked, no nonce counts twice. */
import { constants, createHmac, type KeyObject, verify } from 'node:crypto'
import type { Answer, Inquiry } from './answering-server.ts'
import { type Guard, sameText } from './guards.ts'

export interface OAuth1Options {
  readonly consumer: { readonly key: string; readonly secret: string; readonly publicKey?: KeyObject }
  readonly token?: { readonly value: string; readonly secret: string }
  /** The address of the server as the client knows it; default: what the client calls it. */
  readonly origin?: string
  /** Milliseconds since the epoch. */
  readonly now?: () => number
}

const SLACK = 300
const REQUIRED = ['oauth_consumer_key', 'oauth_signature_method', 'oauth_timestamp', 'oauth_nonce', 'oauth_signature']

/** 401 with a word for what is wrong, for everything but a request that was signed as the owner of the consumer and the token. */
export function oauth1Guard({ consumer, token, origin, now = Date.now }: OAuth1Options): Guard {
  const nonces = new Set<string>()
  return (request) => {
    const params = paramsOf(request)
    if (!params) return refused('parameter_rejected')
    if (REQUIRED.some((name) => !params.has(name))) return refused('parameter_absent')
    if (params.get('oauth_consumer_key') !== consumer.key) return refused('consumer_key_unknown')
    if (params.get('oauth_token') !== token?.value) return refused('token_rejected')
    const timestamp = params.get('oauth_timestamp') ?? ''
    if (!/^[1-9]\d*$/.test(timestamp) || Math.abs(Number(timestamp) - now() / 1000) > SLACK) return refused('timestamp_refused')
    const method = params.get('oauth_signature_method') ?? ''
    const key = `${encode(consumer.secret)}&${encode(token?.secret ?? '')}`
    const signature = params.get('oauth_signature') ?? ''
    const text = baseString(request, origin ?? `http://${request.headers.host}`, params)
    if (!isSigned(method, signature, text, key, consumer.publicKey)) return refused('signature_invalid')
    const use = `${timestamp} ${params.get('oauth_nonce')}`
    if (nonces.has(use)) return refused('nonce_used')
    nonces.add(use)
    return undefined
  }
}

function isSigned(method: string, signature: string, text: string, key: string, publicKey?: KeyObject): boolean {
  if (method === 'PLAINTEXT') return sameText(signature, key)
  if (method === 'HMAC-SHA1') return sameText(signature, createHmac('sha1', key).update(text).digest('base64'))
  if (method === 'HMAC-SHA256') return sameText(signature, createHmac('sha256', key).update(text).digest('base64'))
  if (method !== 'RSA-SHA1' || !publicKey) return false
  return verify('sha1', Buffer.from(text), { key: publicKey, padding: constants.RSA_PKCS1_PADDING }, Buffer.from(signature, 'base64'))
}

/** Written for this test alone: form decoding by the platform, the encoding of §3.6 byte by byte. */
function baseString({ method, path, query, headers, body }: Inquiry, origin: string, params: ReadonlyMap<string, string>): string {
  const isForm = /^application\/x-www-form-urlencoded/i.test(headers['content-type'] ?? '')
  const signed = [...params].filter(([name]) => name !== 'oauth_signature' && name !== 'realm')
  const all = [...signed, ...query, ...(isForm ? new URLSearchParams(body) : [])].map((pair) => pair.map(encode))
  const sorted = all.sort(([name = '', value = ''], [other = '', more = '']) => compare(name, other) || compare(value, more))
  return `${method}&${encode(origin + path)}&${encode(sorted.map((pair) => pair.join('=')).join('&'))}`
}

function paramsOf({ headers }: Inquiry): ReadonlyMap<string, string> | undefined {
  const list = /^OAuth (.+)$/.exec(headers.authorization ?? '')?.[1]?.split(', ') ?? []
  const pairs = list.map((param) => /^(oauth_[a-z_]+|realm)="([A-Za-z0-9\-._~%]*)"$/.exec(param))
  if (pairs.length === 0 || pairs.includes(null)) return undefined
  const params = new Map(pairs.map((pair) => [pair?.[1] ?? '', decodeURIComponent(pair?.[2] ?? '')]))
  return params.size === pairs.length ? params : undefined
}

function encode(text: string): string {
  return Array.from(Buffer.from(text), (byte) => {
    const char = String.fromCharCode(byte)
    return /[A-Za-z0-9\-._~]/.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }).join('')
}

const compare = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other))

function refused(problem: string): Answer {
  return { status: 401, headers: { 'www-authenticate': `OAuth realm="files", oauth_problem="${problem}"` } }
}
