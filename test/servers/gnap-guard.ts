/** Asks for a GNAP token, and for a signature by the key that it is bound to (RFC 9635 §7.3.1, RFC 9421). */
import { createHash, type KeyObject } from 'node:crypto'
import type { Answer, Inquiry } from './answering-server.ts'
import { type Guard, sameText } from './guards.ts'
import { isSignature } from './jws.ts'

export interface BoundToken {
  readonly token: string
  readonly keyId: string
  readonly key: KeyObject
}

const MAX_AGE = 60
const INPUT = /^sig1=(\(([^)]*)\);created=(\d+);keyid="([^"]*)";nonce="([^"]+)";tag="gnap")$/

/** Lets a request pass that carries the token and covers itself by one signature; every nonce counts once. */
export function gnapGuard(bound: BoundToken, challenge = 'GNAP as_uri="https://as.example/tx", access="dolphin"'): Guard {
  const nonces = new Set<string>()
  const refused: Answer = { status: 401, headers: { 'www-authenticate': challenge } }
  return (request) => {
    if (!sameText(request.headers.authorization ?? '', `GNAP ${bound.token}`)) return refused
    return isSigned(request, bound, nonces) ? undefined : refused
  }
}

function isSigned(request: Inquiry, { key, keyId }: BoundToken, nonces: Set<string>): boolean {
  const [, parameters = '', list = '', created = '', keyid, nonce = ''] = INPUT.exec(String(request.headers['signature-input'])) ?? []
  const [, signature = ''] = /^sig1=:([A-Za-z0-9+/]+=*):$/.exec(String(request.headers.signature)) ?? []
  const covered = ['@method', '@target-uri', 'authorization', ...(request.body === '' ? [] : ['content-digest'])]
  if (list !== covered.map((name) => `"${name}"`).join(' ') || keyid !== keyId) return false
  if (Math.abs(Number(created) - Date.now() / 1000) > MAX_AGE || nonces.has(nonce)) return false
  nonces.add(nonce)
  if (request.body !== '' && request.headers['content-digest'] !== digestOf(request.body)) return false
  const lines = covered.map((name) => `"${name}": ${componentOf(name, request)}`)
  return isSignature([...lines, `"@signature-params": ${parameters}`].join('\n'), key, Buffer.from(signature, 'base64'))
}

function componentOf(name: string, { method, target, headers }: Inquiry): string {
  if (name === '@method') return method
  if (name === '@target-uri') return `http://${headers.host}${target}`
  return String(headers[name])
}

/** RFC 9530 §2. */
export function digestOf(body: string): string {
  return `sha-256=:${createHash('sha256').update(body).digest('base64')}:`
}
