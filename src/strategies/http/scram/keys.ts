/** The keys and proofs of SCRAM (RFC 5802 §3). */
import { hmac } from '../../../crypto/hmac.ts'

export type ScramHash = 'SHA-1' | 'SHA-256'

/** What is kept instead of the password: it opens this account on this server only. */
export interface ScramKeys {
  readonly client: Uint8Array
  readonly stored: Uint8Array
  readonly server: Uint8Array
}

const BITS = { 'SHA-1': 160, 'SHA-256': 256 } as const

/** Salts a prepared password; `iterations` is where the time goes. */
export async function scramKeys(hash: ScramHash, password: string, salt: Uint8Array, iterations: number): Promise<ScramKeys> {
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(password), 'PBKDF2', false, ['deriveBits'])
  const salting = { name: 'PBKDF2', hash, salt: new Uint8Array(salt), iterations }
  const salted = new Uint8Array(await crypto.subtle.deriveBits(salting, key, BITS[hash]))
  const client = await hmac(hash, salted, 'Client Key')
  const stored = new Uint8Array(await crypto.subtle.digest(hash, new Uint8Array(client)))
  return { client, stored, server: await hmac(hash, salted, 'Server Key') }
}

/** Shows that the client knows the password. */
export async function clientProof(hash: ScramHash, { client, stored }: ScramKeys, message: string): Promise<Uint8Array> {
  const signature = await hmac(hash, stored, message)
  return client.map((byte, index) => byte ^ (signature[index] ?? 0))
}

/** What a server says that knows the password as well. */
export function serverSignature(hash: ScramHash, { server }: ScramKeys, message: string): Promise<Uint8Array> {
  return hmac(hash, server, message)
}
