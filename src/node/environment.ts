import type { CredentialSet } from '../auth/credential.ts'
import { parseGrant } from '../auth/parse-grant.ts'
import { ConfigurationError } from '../errors.ts'

export interface EnvironmentOptions {
  /** Told, in one line, that a token is not used; by default a warning of the process. */
  readonly warn?: (message: string) => void
}

/**
 * The bearer token of `STAC_AUTH_TOKEN`, as an entry `env` for the address patterns in `STAC_AUTH_TOKEN_FOR` (separated by blanks). Without
 * patterns nobody has said where the token may go: it is ignored, with a warning. It is read when it is needed.
 *
 * Errors: `CONFIG_INVALID` for something that is no pattern.
 */
export function credentialsFromEnvironment(
  env: NodeJS.ProcessEnv = process.env,
  { warn = emitWarning }: EnvironmentOptions = {},
): CredentialSet {
  if (!env.STAC_AUTH_TOKEN) return { credentials: [] }
  const sendTo = (env.STAC_AUTH_TOKEN_FOR ?? '').split(/\s+/).filter(Boolean)
  if (sendTo.length === 0) {
    warn('STAC_AUTH_TOKEN is ignored: set STAC_AUTH_TOKEN_FOR to where it may go, for example https://data.example/')
    return { credentials: [] }
  }
  for (const pattern of sendTo) checkPattern(pattern)
  return { credentials: [{ id: 'env', type: 'http', scheme: 'bearer', token: () => env.STAC_AUTH_TOKEN ?? '', sendTo }] }
}

/** A user without a credential file knows nothing of its pointers. Errors: `CONFIG_INVALID`. */
function checkPattern(pattern: string): void {
  try {
    parseGrant(pattern)
  } catch (error) {
    const message = `STAC_AUTH_TOKEN_FOR: ${(error as ConfigurationError).message}`
    throw new ConfigurationError('CONFIG_INVALID', message, { actual: pattern, hint: 'separate several patterns by blanks' })
  }
}

function emitWarning(message: string): void {
  process.emitWarning(message, 'StacAuthWarning')
}
