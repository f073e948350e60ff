/** The Node platform. Its hash functions are synchronous, many times faster than SubtleCrypto for short texts. */

import { createHash, createHmac, createSecretKey, hash } from 'node:crypto'
import { channel } from 'node:diagnostics_channel'
import { setMaxListeners } from 'node:events'
import { checkClient } from '../node/base/check-client-options.ts'
import { checkOptions, checkStrategies } from '../node/base/check-options.ts'
import { awsKeys } from '../node/credentials/aws-keys.ts'
import { secretSource } from '../node/credentials/secret-source.ts'

import type { HashName, HmacKey, Platform } from './platform.ts'

/** Returns the hex SHA-256 of a text in UTF-8. */
export const sha256Hex = (text: string): string => hash('sha256', text)

/** Returns the hash of bytes. */
export const digest = (algorithm: HashName, bytes: Uint8Array): Uint8Array => createHash(OPENSSL[algorithm]).update(bytes).digest()

/** Node: undici, synchronous hashes, secrets from files, programs and the environment. */
export const platform: Platform = {
  defaultTransport: undici,
  connect: async (url, options) => (await undici()).connect(url, options),
  hidesHeaders: false,
  checkOptions,
  checkStrategies,
  checkClient,
  socket: async (allowPrivateNetwork) => {
    const { guardedSocket } = await import('../node/transport/guarded-connect.ts')
    return guardedSocket(allowPrivateNetwork)
  },
  sha256Hex,
  digest,
  hmacKey,
  secretSource,
  s3Keys: awsKeys,
  channel,
  files: async () => {
    const { localFiles } = await import('../node/base/write-file.ts')
    return localFiles
  },
  shareSignal,
  securityContext: async (wanted) => {
    const { kerberosContext } = await import('../node/credentials/kerberos.ts')
    return kerberosContext(wanted)
  },
  optionalPackages: {
    // Only inside a `try` do bundlers accept that a package is missing.
    async privacyPass() {
      try {
        return await import('@cloudflare/privacypass-ts')
      } catch (error) {
        throw new Error('@cloudflare/privacypass-ts cannot be imported', { cause: error })
      }
    },
    async messagePack() {
      try {
        return await import('@msgpack/msgpack')
      } catch (error) {
        throw new Error('@msgpack/msgpack cannot be imported', { cause: error })
      }
    },
    async zip() {
      try {
        return await import('fflate')
      } catch (error) {
        throw new Error('fflate cannot be imported', { cause: error })
      }
    },
  },
}

async function undici() {
  const { undiciTransport } = await import('../node/transport/undici-transport.ts')
  return undiciTransport()
}

const OPENSSL = { MD5: 'md5', 'SHA-256': 'sha256', 'SHA-512-256': 'sha512-256' } as const

/** Imports an HMAC-SHA-256 key. */
export function hmacKey(bytes: Uint8Array): HmacKey {
  const key = createSecretKey(bytes)
  return {
    sign: (text) => createHmac('sha256', key).update(text).digest(),
    signHex: (text) => createHmac('sha256', key).update(text).digest('hex'),
  }
}

/**
 * Allows any number of listeners on one signal: Node warns of a leak from the eleventh on, and raises the limit for its own `fetch`.
 * Signals that are not Node's, such as those of test environments, stay unchanged. Errors: `TypeError` for anything else.
 */
export function shareSignal(signal: AbortSignal | undefined): void {
  if (signal && typeof signal.addEventListener !== 'function')
    throw new TypeError(`signal must be an AbortSignal${'signal' in Object(signal) ? ': pass controller.signal, not the controller' : ''}`)
  if (signal instanceof EventTarget) setMaxListeners(0, signal)
}
