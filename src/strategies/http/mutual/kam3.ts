/** The algorithm `iso-kam3-dl-2048-sha256` (RFC 8121 §3), with the default functions of RFC 8120 §12. */
import { platform } from '#platform'
import { GENERATOR, GROUP_BYTES, inverse, modularPower, ORDER, PRIME } from '../../../crypto/modp2048.ts'
import { natural, naturalBytes } from '../../../crypto/natural.ts'

/** The one algorithm that we know. */
export const ALGORITHM = 'iso-kam3-dl-2048-sha256'

/** The client's half of a key exchange. */
export interface ClientExchange {
  /** `S_c1`, for this exchange alone. */
  readonly secret: bigint
  /** `K_c1`. */
  readonly value: bigint
}

/** What both sides know after an exchange; of the password there is nothing in it. */
export interface SharedSecret {
  /** `OCTETS(K_c1) | OCTETS(K_s1) | OCTETS(z)`. */
  readonly octets: Uint8Array
}

/** nIterPi. */
const ITERATIONS = 16_384

/** Smaller exponents give powers smaller than the prime (RFC 8121 §3.2), which tell them. */
const LEAST_EXPONENT = 2048n

/** Draws a new secret: so many more bits than needed that the remainder favours nothing. */
export function startExchange(random: (bytes: number) => Uint8Array): ClientExchange {
  const secret = LEAST_EXPONENT + (natural(random(GROUP_BYTES + 8)) % (ORDER - LEAST_EXPONENT))
  return { secret, value: modularPower(GENERATOR, secret) }
}

/** What a number of the group looks like on the wire: all its bytes (RFC 8120 §3.2.3). */
export function groupBytes(value: bigint): Uint8Array {
  return naturalBytes(value, GROUP_BYTES)
}

/** Reads a number of the group; undefined when its length is wrong or it is one of those that give the secret away. */
export function groupNumber(bytes: Uint8Array | undefined): bigint | undefined {
  if (bytes?.length !== GROUP_BYTES) return undefined
  const value = natural(bytes)
  return value > 1n && value < PRIME - 1n ? value : undefined
}

/** `pi` of a password: bound to the account, and to where it is valid. The realm is a byte string. */
export async function passwordNumber(password: string, place: { scope: string; realm: Uint8Array; user: string }): Promise<bigint> {
  const { scope, realm, user } = place
  const salt = Uint8Array.of(...vs(ascii(ALGORITHM)), ...vs(ascii(scope)), ...vs(realm), ...vs(utf8.encode(user)))
  const key = await crypto.subtle.importKey('raw', utf8.encode(password), 'PBKDF2', false, ['deriveBits'])
  const salting = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: ITERATIONS }
  return natural(new Uint8Array(await crypto.subtle.deriveBits(salting, key, 256)))
}

/** `z = K_s1^((S_c1 + t_2) / (S_c1 * t_1 + pi) mod r) mod q`, with what it is used with. */
export async function sharedSecret({ secret, value }: ClientExchange, server: bigint, password: bigint): Promise<SharedSecret> {
  const [kc1, ks1] = [groupBytes(value), groupBytes(server)]
  const first = natural(await hash(Uint8Array.of(1, ...kc1)))
  const second = natural(await hash(Uint8Array.of(2, ...kc1, ...ks1)))
  const exponent = ((secret + second) * inverse(secret * first + password)) % ORDER
  const z = groupBytes(modularPower(server, exponent))
  return { octets: Uint8Array.of(...kc1, ...ks1, ...z) }
}

/** `VK_c`: shows the server that the client knows the secret; `host` is `vh` of RFC 8120 §7. */
export function clientProof(shared: SharedSecret, nc: number, host: string): Promise<Uint8Array> {
  return proof(4, shared, nc, host)
}

/** `VK_s`: shows the client that the server knows it. */
export function serverProof(shared: SharedSecret, nc: number, host: string): Promise<Uint8Array> {
  return proof(3, shared, nc, host)
}

const utf8 = new TextEncoder()
const ascii = (text: string) => utf8.encode(text)

async function proof(tag: number, { octets }: SharedSecret, nc: number, host: string): Promise<Uint8Array> {
  return hash(Uint8Array.of(tag, ...octets, ...vi(nc), ...vs(ascii(host))))
}

async function hash(bytes: Uint8Array): Promise<Uint8Array> {
  return platform.digest('SHA-256', bytes)
}

/** `VI`: digits of seven bits, all but the last with the eighth bit set. */
function vi(value: number): readonly number[] {
  const digits = [value % 128]
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) digits.unshift(128 + (rest % 128))
  return digits
}

/** `VS`: text of bytes that tells its own length. */
function vs(bytes: Uint8Array): readonly number[] {
  return [...vi(bytes.length), ...bytes]
}
