/** The platform of browsers and other web runtimes. Its hash functions use SubtleCrypto. */

import { hex } from '../crypto/encoding.ts'
import { UnsupportedError } from '../errors.ts'
import { fetchTransport } from './fetch-transport.ts'
import type { HashName, HmacKey, Platform } from './platform.ts'

/** Browsers and other web runtimes: fetch and SubtleCrypto. Secrets come from the page only. */
export const platform: Platform = {
  defaultTransport: async () => fetchTransport(),
  connect: undefined,
  hidesHeaders: true,
  socket: async () => (typeof WebSocket === 'function' ? (url) => new WebSocket(url) : missing('socket')),
  sha256Hex,
  digest,
  hmacKey,
  secretSource: (source) => ({
    read: async () => missing('secretSource', ` ({ "${Object.keys(source)[0]}": … })`),
    reading: 0,
    isNewer: async () => false,
  }),
  s3Keys: () => async () => missing('s3Keys'),
  channel: () => undefined,
  shareSignal: () => {},
  files: async () => missing('files'),
  securityContext: async () => missing('securityContext'),
}

const utf8 = new TextEncoder()

const HMAC = { name: 'HMAC', hash: 'SHA-256' }

/** Returns the hex SHA-256 of a text in UTF-8. */
export async function sha256Hex(text: string): Promise<string> {
  return hex(new Uint8Array(await (await subtle()).digest('SHA-256', utf8.encode(text))))
}

/** Returns the hash of bytes; algorithms that SubtleCrypto lacks are loaded on first use. */
export async function digest(algorithm: HashName, bytes: Uint8Array): Promise<Uint8Array> {
  if (algorithm === 'MD5') return (await import('../crypto/legacy-digests.ts')).md5(bytes)
  if (algorithm === 'SHA-512-256') return (await import('../crypto/legacy-digests.ts')).sha512256(bytes)
  return new Uint8Array(await (await subtle()).digest(algorithm, new Uint8Array(bytes)))
}

/** Imports an HMAC-SHA-256 key. */
export async function hmacKey(bytes: Uint8Array): Promise<HmacKey> {
  const key = await (await subtle()).importKey('raw', new Uint8Array(bytes), HMAC, false, ['sign'])
  const sign = async (text: string) => new Uint8Array(await crypto.subtle.sign(HMAC, key, utf8.encode(text)))
  return { sign, signHex: async (text) => hex(await sign(text)) }
}

/** Returns SubtleCrypto, which pages loaded over plain http do not have. */
async function subtle(): Promise<SubtleCrypto> {
  return crypto.subtle ?? missing('subtle')
}

/** What is supported on Node only: why, and what to do instead. */
const MISSING = {
  secretSource: ['a secret that is not given itself can only be read on Node', 'pass the secret itself or a function that returns it'],
  s3Keys: [
    'an s3 credential without keys reads them from a profile or the environment, which is supported on Node only',
    'set accessKeyId and secretAccessKey, or credentialsUrl',
  ],
  securityContext: [
    'web pages cannot use Kerberos tickets',
    "let the browser log in: fetch(url, { credentials: 'include' }), on a host that it trusts for integrated login",
  ],
  socket: ['this runtime has no WebSocket', 'pass a WebSocket class in the option WebSocket'],
  subtle: [
    'this page was loaded over plain http, and browsers provide Web Crypto in secure contexts only',
    'serve the page over https; during development, open it as http://localhost',
  ],
  files: ['files can be named by their paths on Node only', 'use a Blob, bytes or a stream'],
} as const

/** Throws `UNSUPPORTED_IN_BROWSER`. */
function missing(what: keyof typeof MISSING, detail = ''): never {
  const [message, hint] = MISSING[what]
  throw new UnsupportedError('UNSUPPORTED_IN_BROWSER', `${message}${detail}`, { hint })
}
