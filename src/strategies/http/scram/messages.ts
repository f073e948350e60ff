/** The messages of SCRAM (RFC 5802 §5.1, §7), each in the base64 that RFC 7804 puts into the parameter `data`. */
import { base64 } from '../../../crypto/base64.ts'
import { fromBase64url } from '../../../crypto/base64url.ts'

/** What the server begins with. */
export interface ServerFirst {
  readonly text: string
  /** Ours, continued by the server. */
  readonly nonce: string
  readonly salt: Uint8Array
  readonly iterations: number
}

/** What the server ends with: its proof, or a word for why not. */
export type ServerFinal = { readonly signature: Uint8Array } | { readonly error: string }

/** No channel binding, which HTTP does not have, and no other identity to act for. */
const GS2_HEADER = 'n,,'

/** Fewer are too cheap to guess through (RFC 7677 §4), more are an attack on the client. */
const ITERATIONS = { least: 4096, most: 1_000_000 }

/** The words of RFC 5802 §7; any other one means the same as the last. */
const ERRORS = [
  'invalid-encoding',
  'extensions-not-supported',
  'invalid-proof',
  'channel-bindings-dont-match',
  'server-does-support-channel-binding',
  'channel-binding-not-supported',
  'unsupported-channel-binding-type',
  'unknown-user',
  'invalid-username-encoding',
  'no-resources',
  'other-error',
]

/** `client-first-message-bare`, for a prepared name. */
export function clientFirst(user: string, nonce: string): string {
  return `n=${user.replaceAll('=', '=3D').replaceAll(',', '=2C')},r=${nonce}`
}

/** `client-final-message-without-proof`. */
export function clientFinal(nonce: string): string {
  return `c=${base64(utf8.encode(GS2_HEADER))},r=${nonce}`
}

/** The `data` of the client's first message. */
export function firstData(message: string): string {
  return base64(utf8.encode(GS2_HEADER + message))
}

/** The `data` of the client's last message. */
export function finalData(message: string, proof: Uint8Array): string {
  return base64(utf8.encode(`${message},p=${base64(proof)}`))
}

/** Reads `server-first-message`; a text says what is wrong with it, and never quotes it. */
export function serverFirst(data: string, clientNonce: string): ServerFirst | string {
  const text = textOf(data)
  if (text === undefined) return 'its "data" is not readable'
  if (/(?:^|,)m=/.test(text)) return 'it demands an extension ("m")'
  const [, nonce = '', salt = '', count] = SERVER_FIRST.exec(text) ?? []
  if (count === undefined) return 'its "data" lacks a nonce, a salt or a count'
  if (!nonce.startsWith(clientNonce) || nonce === clientNonce) return 'its nonce ("r") does not continue the one it was sent'
  const iterations = Number(count)
  if (iterations < ITERATIONS.least || iterations > ITERATIONS.most) {
    return `its count ("i") is not between ${ITERATIONS.least} and ${ITERATIONS.most}`
  }
  const bytes = fromBase64url(salt)
  return bytes ? { text, nonce, salt: bytes, iterations } : 'its salt ("s") is not readable'
}

/** Reads `server-final-message`; undefined when it is none. */
export function serverFinal(data: string): ServerFinal | undefined {
  const [, name, value = ''] = SERVER_FINAL.exec(textOf(data) ?? '') ?? []
  if (name === 'e') return { error: ERRORS.includes(value) ? value : 'other-error' }
  const signature = name === 'v' ? fromBase64url(value) : undefined
  return signature && { signature }
}

const SERVER_FIRST = /^r=([\x21-\x2b\x2d-\x7e]+),s=([A-Za-z0-9+/]+={0,2}),i=([1-9]\d{0,9})(?:,[A-Za-z]=[^,]+)*$/
const SERVER_FINAL = /^([ev])=([^,]+)(?:,[A-Za-z]=[^,]+)*$/
const utf8 = new TextEncoder()

function textOf(data: string): string | undefined {
  const bytes = fromBase64url(data)
  try {
    return bytes && new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
