/** Builds the error of a refused document with the schemes that the catalog names. They are shown only and select no credential. */
import { type AuthError, NetworkError } from '../errors.ts'
import { isObject, ownString } from '../stac/document.ts'
import { type FoundScheme, findScheme, schemeMaps } from '../stac/target.ts'
import { shellWord } from '../text/shell-word.ts'
import { type Job, originOf, type Scope, type Via } from './job.ts'

/**
 * Returns the error of a 401 or 403 with the schemes that the link asks for, the document that links there and the credential to add.
 *
 * @param scopes documents with schemes above the document that failed, nearest first
 */
export function accessError(error: AuthError, { url, via }: Pick<Job, 'url' | 'via'>, scopes: readonly Scope[]): AuthError {
  const { code, message, status } = error
  const answered = error.url ?? url
  const found = via?.refs.map((ref) => ({ ref, scheme: schemeOf(ref, via, scopes) })) ?? []
  const wanted = found.map(({ ref, scheme }) => `"${short(ref)}" (${scheme ? typeOf(scheme) : 'not defined'})`).join(' or ')
  const needs = via ? `; the link in ${nameOf(via.url)} asks for ${wanted}` : ''
  const hint = hintFor(originOf(answered), via, found.find(({ scheme }) => scheme)?.scheme?.url)
  return new NetworkError(code, `${message}${needs}`, { url: answered, hint, ...(status !== undefined && { status }) })
}

/** Returns the schemes as for a target of the linking document: its own first, then those of parent documents on its origin. */
function schemeOf(ref: string, { url }: Via, scopes: readonly Scope[]): FoundScheme | undefined {
  const origin = originOf(url)
  const [nearest, ...parents] = scopes.filter((scope) => scope.origin === origin)
  return nearest && findScheme(schemeMaps({ ...nearest, at: '', parents }), ref)
}

/** Returns the type, followed by the HTTP authentication scheme if it has one. */
function typeOf({ value }: FoundScheme): string {
  const type = ownString(value, 'type')
  if (!isObject(value) || type === undefined) return 'without a type'
  const scheme = type === 'http' ? ownString(value, 'scheme') : undefined
  return scheme === undefined ? short(type) : `${type} ${short(scheme)}`
}

function hintFor(origin: string, via: Via | undefined, from: string | undefined): string {
  if (from === undefined)
    return `if you have access, add a credential whose "sendTo" includes ${origin}/: stac-auth credentials add --file FILE; download also needs --by-address for assets without auth:refs`
  const command = `if you have access: stac-auth credentials add ${shellWord(nameOf(from))}`
  // That command reads one document: it does not see the link, and asks only about schemes that its own targets use.
  return from === via?.url
    ? command
    : `${command}, or use --file FILE if it does not ask about the scheme; its "sendTo" must include ${origin}/`
}

const MOST_CHARACTERS = 64

/** Shortens a name of the catalog. */
function short(text: string): string {
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text
}

/** Returns the path of a file, or a URL without its query, which may contain a key. */
function nameOf(url: string): string {
  const { protocol, origin, pathname } = new URL(url)
  if (protocol !== 'file:') return origin + pathname
  try {
    return decodeURIComponent(pathname).replace(/^\/(?=[a-z]:)/i, '')
  } catch {
    return pathname
  }
}
