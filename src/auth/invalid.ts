import { ConfigurationError } from '../errors.ts'

/** That a member of the user's entries is wrong: `CONFIG_INVALID` with its name in the message, and its pointer. */
export function invalid(at: string, what: string, hint?: string): ConfigurationError {
  return new ConfigurationError('CONFIG_INVALID', `${at.slice(at.lastIndexOf('/') + 1)} ${what}`, { pointer: at, ...(hint && { hint }) })
}
