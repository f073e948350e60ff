/** What gives a secret away: names of members and parameters, and the shapes of values. */
import { type JsonObject, own } from '../stac/json.ts'

/** Names of query parameters that carry signatures, tokens and keys: shared access signatures, S3 and those who sign like it, tokens. */
const PARAMETERS = /^(?:sig|.+-signature|x-amz-security-token|(?:access_)?token|api_?key|client_secret|password|secret)$/

const MEMBERS =
  /^(?:password|passwd|secret|client_?secret|token|(?:access|refresh|id|session)_?token|secret_?(?:access_?)?key|private_?key)$/i

const SHAPES = [
  // A JSON Web Token (RFC 7515 §7.1). Each part is looked through once: text of a catalog may be one word of megabytes.
  /(?<![\w-])(?=[\w-]+\.[\w-]{8,}\.)[\w-]*?\beyJ[\w-]{8}/,
  /\b(?:AKIA|ASIA)[A-Z\d]{16}\b/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /^(?:Basic|Bearer) +[\w.~+/=-]{8,}$/i,
]

/** The lower-cased name of the first query parameter that holds a secret, or undefined. Placeholders are no secrets. */
export function secretParameter(address: string): string | undefined {
  const query = address.slice(address.indexOf('?') + 1).replace(/#.*$/s, '')
  if (query.length === address.length) return undefined
  const names = new Set<string>()
  for (const pair of query.split('&')) {
    const equals = pair.indexOf('=')
    if (equals < 0 || isPlaceholder(pair.slice(equals + 1))) continue
    const name = pair.slice(0, equals).toLowerCase()
    if (PARAMETERS.test(name)) return name
    names.add(name)
  }
  // An end of its own, or one in a policy (CloudFront).
  return names.has('signature') && (names.has('expires') || names.has('key-pair-id')) ? 'signature' : undefined
}

/** True for an address with a user name or password in it. */
export function hasUserInfo(address: string): boolean {
  const authority = address.includes('@') ? /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)@/i.exec(address)?.[1] : undefined
  return authority !== undefined && !isPlaceholder(authority)
}

/** True when a member of that name, or a value of that shape, is a secret and no placeholder for one. */
export function isSecret(name: string, value: string): boolean {
  if (value.length === 0 || isPlaceholder(value)) return false
  return MEMBERS.test(name) || looksSecret(value)
}

/** True when the value has the shape of a token, a key or an `Authorization` field. */
export function looksSecret(value: string): boolean {
  return value.length >= 8 && SHAPES.some((shape) => shape.test(value))
}

function isPlaceholder(value: string): boolean {
  return /^(?:<.*>|\{.*\}|%7B.*%7D|\$.*|\*{3,}|…|\.{3})?$/is.test(value.replace(/^(?:Basic|Bearer) +/i, ''))
}

const CREDENTIAL_HEADERS = /^(?:authorization|proxy-authorization|cookie|x-api-key|api-key|apikey|x-auth-token|x-access-token)$/i

/** True for a parameter that puts a credential into a header. */
export function isCredentialHeader(name: string, parameter: JsonObject): boolean {
  return own(parameter, 'in') === 'header' && CREDENTIAL_HEADERS.test(name)
}
