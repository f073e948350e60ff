/** The user's key as an entry of the strategy layer. */
import type { ServiceCredential } from '../../auth/credential.ts'
import { ConfigurationError } from '../../errors.ts'
import type { ApiKey, TranslationClientOptions } from './translation-options.ts'

/** The entry for a key: a header, by default `Authorization: DeepL-Auth-Key <key>`. */
export function keyEntry(value: ApiKey, { name, prefix = '' }: TranslationClientOptions['authHeader'] = DEFAULT): ServiceCredential {
  return { type: 'apiKey', in: 'header', name, ...(prefix !== '' && { prefix }), value }
}

const DEFAULT = { name: 'Authorization', prefix: 'DeepL-Auth-Key' }

/**
 * The key as it is used: a text that can be sent, or a function that callers share while it is under way. Errors:
 * `CREDENTIAL_VALUE_INVALID` without the value.
 */
export function checkedKey(key: ApiKey): ApiKey {
  if (typeof key === 'string') return checked(key)
  return typeof key === 'function' ? shared(async () => checked(await key())) : key
}

function checked(key: unknown): string {
  const isSendable = typeof key === 'string' && key !== '' && key === key.trim() && !/[\0\r\n]/.test(key)
  if (isSendable) return key
  const message = 'the API key must be a text that is not empty, without line breaks and outer blanks; its value is not shown'
  throw new ConfigurationError('CREDENTIAL_VALUE_INVALID', message)
}

/** One question at a time: who asks meanwhile gets the same answer. */
function shared<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined
  return () => {
    asked ??= ask().finally(() => {
      asked = undefined
    })
    return asked
  }
}
