/** Encryption of what is stored with others: AES-256-GCM (NIST SP 800-38D), bound to the name under which it is stored. */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { ConfigurationError, IntegrityError } from '../../errors.ts'

/** Format of a sealed text: `1.<id of the key>.<nonce>.<ciphertext and tag>`, the parts in base64url. */
const VERSION = '1'
const NONCE_BYTES = 12
const TAG_BYTES = 16
const KEY_BYTES = 32

/** A key and its id, which tells keys apart and says nothing about them. */
export interface SealingKey {
  readonly id: string
  /** Not enumerable, so that inspecting the object does not print it. */
  readonly bytes: Buffer
}

/** Parses 32 bytes in base64 or base64url. Errors: `CREDENTIAL_VALUE_INVALID` without the text. */
export function sealingKey(text: string): SealingKey {
  const given = String(text).trim()
  const bytes = /^[A-Za-z0-9+/_-]{43}=?$/.test(given) ? Buffer.from(given, 'base64') : Buffer.alloc(0)
  if (bytes.length !== KEY_BYTES)
    throw new ConfigurationError(
      'CREDENTIAL_VALUE_INVALID',
      `the key of the token store is malformed: it must be ${KEY_BYTES} bytes in base64`,
      {
        hint: 'create one with: openssl rand -base64 32',
      },
    )
  const id = createHash('sha256').update('stac-auth sealing key').update(bytes).digest('base64url').slice(0, 8)
  return Object.defineProperty({ id } as SealingKey, 'bytes', { value: bytes })
}

/** Encrypts a text for one name. */
export function seal(text: string, name: string, { id, bytes }: SealingKey): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', bytes, nonce).setAAD(boundTo(name, id))
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return [VERSION, id, nonce.toString('base64url'), sealed.toString('base64url')].join('.')
}

/**
 * Decrypts a text that was sealed for that name with one of the keys.
 *
 * Errors: `CREDENTIAL_VALUE_INVALID` when none of the keys sealed it; `CACHE_UNSAFE` when it was changed, moved from another name, or has
 * another format.
 */
export function unseal(sealed: string, name: string, keys: readonly SealingKey[]): string {
  const [version, id = '', nonce = '', body = ''] = sealed.split('.')
  if (version !== VERSION) throw changed('has a format that this version cannot read')
  const key = keys.find((one) => one.id === id)
  if (!key)
    throw new ConfigurationError('CREDENTIAL_VALUE_INVALID', 'a stored token cannot be decrypted: it was stored with another key', {
      hint: 'list the older key after the current one, or log out and in again',
    })
  const bytes = Buffer.from(body, 'base64url')
  const iv = Buffer.from(nonce, 'base64url')
  if (iv.length !== NONCE_BYTES || bytes.length < TAG_BYTES) throw changed('is incomplete')
  try {
    const cipher = createDecipheriv('aes-256-gcm', key.bytes, iv, { authTagLength: TAG_BYTES }).setAAD(boundTo(name, id))
    cipher.setAuthTag(bytes.subarray(-TAG_BYTES))
    return Buffer.concat([cipher.update(bytes.subarray(0, -TAG_BYTES)), cipher.final()]).toString('utf8')
  } catch {
    throw changed('was changed or moved by someone without the key')
  }
}

function boundTo(name: string, id: string): Buffer {
  return Buffer.from(`stac-auth ${VERSION} ${id} ${name}`)
}

function changed(what: string): IntegrityError {
  return new IntegrityError('CACHE_UNSAFE', `a stored token ${what}`, {
    hint: 'log out, which removes it, and find out who can write to the store',
  })
}
