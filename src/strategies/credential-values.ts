/** What strategies read by a credential: the values of its secrets, and fields and lifetimes in answers. */
import { type Credential, Secret } from '../auth/credential.ts'
import { ConfigurationError, CredentialError, isAuthError, SelectionError } from '../errors.ts'
import { isAccessToken } from '../http/headers.ts'
import { type HttpRequest, hasQueryParameter, queryValues, withQueryParameter, withUrl } from '../http/message.ts'

/** Longer values do not fit the headers that servers accept. */
const MAX_LENGTH = 16_384

/**
 * Returns the value of a secret field, synchronously when it was given as text. Errors: `CREDENTIAL_VALUE_INVALID` (empty, line breaks,
 * outer blanks, too long), `CREDENTIAL_SOURCE`. Errors never contain the value.
 */
export function reveal(secret: Secret, field: string, { id }: Credential): string | Promise<string> {
  return secret.isText ? checked(secret.reveal(), field, id) : answered(secret, field, id, checked)
}

/**
 * Returns the value of a multi-line secret, such as a key in PEM. Errors:
 * `CREDENTIAL_VALUE_INVALID` (empty, NUL, too long), `CREDENTIAL_SOURCE`. Errors never contain the value.
 */
export function revealText(secret: Secret, field: string, { id }: Credential): string | Promise<string> {
  return secret.isText ? checkedText(secret.reveal(), field, id) : answered(secret, field, id, checkedText)
}

/** Returns the field `token` of a credential, synchronously when it was given as text. Errors: `CREDENTIAL_VALUE_INVALID` as of {@link isAccessToken}. */
export function accessToken(credential: Credential): string | Promise<string> {
  return whenThere(reveal(credential.token as Secret, 'token', credential), (token) => checkedToken(token, credential.id))
}

/** Continues synchronously with a value, asynchronously with a promise. */
export function whenThere<T, U>(value: T | Promise<T>, next: (value: T) => U | Promise<U>): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** True when the credential needs no function and no source: these are called once per request, so `peek` must not call them. */
export function atHand(credential: Credential): boolean {
  return Object.values(credential).every((value) => !(value instanceof Secret) || value.isText)
}

/** Returns `CREDENTIAL_VALUE_INVALID` for a value that cannot be sent. */
export function unfit(field: string, id: string, why: string): CredentialError {
  return new CredentialError('CREDENTIAL_VALUE_INVALID', `${field} of "${id}" ${why}`, { credential: id })
}

/** Returns `CONFIG_INVALID` for a field of a credential. */
export function invalidField(field: string, why: string): ConfigurationError {
  return new ConfigurationError('CONFIG_INVALID', `${field} ${why}`, { pointer: `/${field}` })
}

/** Returns the request with a secret in its query, where a redirect may have kept it. Errors: `QUERY_NAME_CONFLICT`. */
export function withQuerySecret(request: HttpRequest, name: string, value: string, { id }: Credential): HttpRequest {
  if (queryValues(request.url, name).includes(value)) return request
  if (hasQueryParameter(request.url, name)) {
    throw new SelectionError('QUERY_NAME_CONFLICT', `the URL already has a query parameter "${name}"`, {
      credential: id,
      url: request.url,
      hint: 'remove it from the URL',
    })
  }
  return withUrl(request, withQueryParameter(request.url, name, value))
}

/** Calls the source; an error of the user's own function may contain secrets, so it is not attached. */
async function answered(secret: Secret, field: string, id: string, check: typeof checked): Promise<string> {
  let value: unknown
  try {
    value = await secret.reveal()
  } catch (error) {
    const known = isAuthError(error) ? error : undefined
    if (known && !known.code.startsWith('CREDENTIAL')) throw known
    const why = known?.message ?? 'its function failed'
    const hint = 'log the error in that function: it may hold the secret, so it is not shown'
    throw new CredentialError(known?.code ?? 'CREDENTIAL_SOURCE', `${field} of "${id}": ${why}`, { ...(known ?? { hint }), credential: id })
  }
  return check(value, field, id)
}

function checked(value: unknown, field: string, id: string): string {
  const text = checkedText(value, field, id)
  if (/[\r\n]/.test(text)) throw unfit(field, id, 'contains a line break')
  if (text !== text.trim()) throw unfit(field, id, 'begins or ends with a blank')
  return text
}

function checkedText(value: unknown, field: string, id: string): string {
  if (typeof value !== 'string') throw unfit(field, id, 'is not text')
  if (value === '') throw unfit(field, id, 'is empty')
  if (value.includes('\0')) throw unfit(field, id, 'contains a NUL character')
  if (value.length > MAX_LENGTH) throw unfit(field, id, `is longer than ${MAX_LENGTH} characters`)
  return value
}

function checkedToken(token: string, id: string): string {
  if (isAccessToken(token)) return token
  if (/^bearer\s/i.test(token)) throw unfit('token', id, 'starts with "Bearer ": write only the token, the scheme name is added')
  throw unfit('token', id, 'is not an access token: it contains a blank or a character that is not visible ASCII')
}

/** True for a place: the name of a member, or a JSON Pointer (RFC 6901). */
export function isPlaceInAnswer(place: string): boolean {
  return place !== '' && (!place.startsWith('/') || !/~(?![01])/.test(place))
}

/**
 * Returns the value at a place of an answer: a JSON Pointer (RFC 6901) when it begins with a slash, else the name of a member of the
 * whole. Only own members count; undefined where there is none.
 */
export function fieldAt(answer: unknown, place: string): unknown {
  const names = place.startsWith('/') ? place.slice(1).split('/').map(unescapedName) : [place]
  let value = answer
  for (const name of names) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    if (Array.isArray(value) && !/^(?:0|[1-9]\d{0,9})$/.test(name)) return undefined
    value = (value as Readonly<Record<string, unknown>>)[name]
  }
  return value
}

function unescapedName(name: string): string {
  return name.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** One year in seconds: longer lifetimes are cut. */
const LONGEST = 31_536_000

/**
 * Returns the lifetime in seconds from an `expires_in`: a number or a string of digits, its fraction dropped, at most one year;
 * undefined when it is not positive or not a number.
 */
export function expiresIn(value: unknown): number | undefined {
  const seconds = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  if (typeof seconds !== 'number' || !(seconds >= 1)) return undefined
  return Math.min(Math.trunc(seconds), LONGEST)
}
