import type { ServiceCredential } from '../auth/credential.ts'
import type { SecretInput } from '../auth/secret.ts'
import { ConfigurationError } from '../errors.ts'
import { isForbiddenHeader, isToken } from '../http/field-name.ts'
import type { AuthHeader } from './options.ts'

/** Where tokens go unless told otherwise. */
const BEARER: AuthHeader = { name: 'Authorization', prefix: 'Bearer' }

/**
 * The entry that sends a token in that header. The token is not looked at.
 *
 * Errors: `CONFIG_INVALID` for a name that no header of a secret may have, and for a word that is none.
 */
export function tokenCredential(token: SecretInput, header: AuthHeader | 'x-api-token' = BEARER): ServiceCredential {
  const { name, prefix = '' } = header === 'x-api-token' ? { name: header } : header
  if (isForbiddenHeader(name)) throw invalid(`a token cannot be sent in the header ${JSON.stringify(name)}`)
  if (prefix !== '' && !isToken(prefix)) throw invalid('the prefix of authHeader is one word, without blanks')
  const isBearer = name.toLowerCase() === 'authorization' && prefix.toLowerCase() === 'bearer'
  if (isBearer) return { type: 'http', scheme: 'bearer', token }
  return { type: 'apiKey', in: 'header', name, value: prefix === '' ? token : prefixed(prefix, token) }
}

function prefixed(prefix: string, token: SecretInput): SecretInput {
  return typeof token === 'string' ? `${prefix} ${token}` : async () => `${prefix} ${await token()}`
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError('CONFIG_INVALID', message, { hint: "for example { name: 'Authorization', prefix: 'Bearer' }" })
}
