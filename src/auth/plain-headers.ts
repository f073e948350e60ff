import { ConfigurationError } from '../errors.ts'
import { isToken } from '../http/field-name.ts'

/** Header names in lower case. Errors: `ConfigurationError` `USAGE` for a name or value that HTTP does not allow. */
export function plainHeaders(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  const plain: Record<string, string> = {}
  for (const name of Object.keys(headers)) {
    const value = headers[name]
    if (value === undefined) continue
    if (/[\r\n\0]/.test(value) || !isToken(name)) {
      throw new ConfigurationError('USAGE', `"${name}" is not a valid header`)
    }
    plain[name.toLowerCase()] = value
  }
  return plain
}
