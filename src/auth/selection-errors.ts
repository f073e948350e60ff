/** The errors of rejected references: loaded when one is needed. */
import { type AuthError, SelectionError } from '../errors.ts'
import { isObject } from '../stac/document.ts'
import type { AuthScheme } from '../stac/scheme.ts'
import { type MalformedRef, refPointer, type SchemeMap, type Target } from '../stac/target.ts'
import { nearMiss } from '../text/suggest.ts'
import { type Credential, type CredentialForm, type Field, inputIdOf } from './credential.ts'
import { folderFor, isUnusable, patternFor } from './requirement.ts'
import { agrees, type CredentialMatch, coversTarget, type Known, type RejectedReference, type SchemeMatch } from './scheme-matching.ts'
import type { Identity, IdentityMember, Strategy } from './strategy.ts'
import { covers, pathProblem, patternsText } from './url-pattern.ts'

/** Returns the error of the reference that passed most checks; of equals the first. */
export async function furthest(rejected: readonly RejectedReference[]): Promise<AuthError> {
  const best = rejected.reduce((other, refusal) => (refusal.stage > other.stage ? refusal : other))
  const error = await best.error()
  const reasons = await Promise.all(rejected.filter((refusal) => refusal !== best).map((refusal) => refusal.error()))
  return reasons.length === 0 ? error : new SelectionError(error.code, error.message, { ...error, reasons })
}

/** A valid scheme for which no credential can be used. */
export interface Unmatched {
  readonly target: Target
  readonly ref: string
  readonly match: SchemeMatch
  readonly url: URL
  /** The credentials of the scheme's type. */
  readonly same: readonly Known[]
}

/** Returns the error, in comparison with the credential that shares most with the scheme. */
export function noMatch({ target, ref, match, url, same }: Unmatched): SelectionError {
  const known = match.strategy?.addressProblem?.(target.href)
  // A credential for that URL would not help.
  if (known) return new SelectionError(known.code, known.message, { ...known, pointer: `${target.pointer}/href`, ref })
  const allowed = matching(match, target)
  if (allowed) return untrustedTarget(target, ref, allowed, url)
  if (match.otherChain) return otherChain(ref, match.otherChain, match)
  const { strategy, scheme, identity, pointer } = match
  const coversIt = (credential: Credential) => strategy !== undefined && coversTarget({ credential, strategy, scheme }, url, target)
  const miss = nearestMiss(identity, same, (credential, sharesUrl) => sharesUrl || coversIt(credential))
  if (miss?.member.url) return untrustedEndpoint(ref, miss.credential, pointer + miss.member.pointer, miss.expected, miss.member.value)
  if (!miss || !coversIt(miss.credential)) return missingCredential(target, ref, scheme, strategy, url)
  return mismatch(ref, miss.credential, pointer + miss.member.pointer, miss.member.name, miss.expected, miss.member.value)
}

/** Returns the credential with the scheme's identity whose `sendTo` does not include the target; of several one that suits it. */
function matching({ matches, strategy }: SchemeMatch, target: Target): CredentialMatch | undefined {
  const same = matches.filter((match) => match.strategy === strategy)
  return same.find(({ credential }) => strategy?.suits?.(credential, target)) ?? same[0]
}

function otherChain(ref: string, credential: Credential, { pointer }: SchemeMatch): SelectionError {
  const { id } = credential
  const message = `scheme "${ref}" refers to other schemes than that of "${inputIdOf(credential)}", which credential "${id}" uses. Nothing was sent`
  return new SelectionError('SCHEME_MISMATCH', message, { pointer: `${pointer}/auth:refs`, ref, credential: id })
}

/** Returns `SCHEME_NOT_FOUND`, or `SCHEMES_INVALID` when `auth:schemes` is not an object. */
export function notFound(target: Target, ref: string, maps: readonly SchemeMap[]): SelectionError {
  const broken = maps.find(({ schemes }) => !isObject(schemes))
  if (broken) return new SelectionError('SCHEMES_INVALID', 'auth:schemes is not an object', { pointer: broken.pointer, ref })
  const near = nearMiss(
    ref,
    maps.flatMap(({ schemes }) => Object.keys(schemes as object)),
  )
  const message = `"${ref}" is not defined in auth:schemes${near === undefined ? '' : ` (did you mean "${near}"?)`}`
  const hint = 'auth:schemes must define it: report this to the publisher of the document, or correct your copy'
  return new SelectionError('SCHEME_NOT_FOUND', message, { pointer: refPointer(target, ref), ref, hint })
}

/** Returns `SCHEME_INVALID` for a reference that is not a string: the required scheme is unknown, so nothing is sent. */
export function malformed({ kind, pointer, refsOf }: Target, ref: MalformedRef): SelectionError {
  const what = kind.replace('_', ' ')
  const isList = ref.pointer !== `${refsOf.pointer}/auth:refs`
  const problem = `${isList ? 'an element of auth:refs' : 'auth:refs'} of this ${what} is ${kindOfValue(ref.value)}`
  const expected = isList ? 'a scheme name' : 'a list of scheme names'
  return new SelectionError('SCHEME_INVALID', `${problem}, not ${expected}. Nothing was sent`, {
    pointer: ref.pointer,
    hint: `auth:refs of ${pointer} must be a list of names from auth:schemes: report this to the publisher of the document, or correct your copy`,
  })
}

function kindOfValue(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (value === '') return 'an empty string'
  if (typeof value === 'number') return 'a number'
  return Array.isArray(value) ? 'a list' : 'an object'
}

/** Returns `SCHEME_UNSUPPORTED` for a type without a strategy. */
export function unsupported(ref: string, type: string, pointer: string): SelectionError {
  return new SelectionError('SCHEME_UNSUPPORTED', `scheme "${ref}" has the unsupported type "${type}"`, {
    pointer,
    ref,
    hint: `in code: createAuth({ strategies: [...defaultStrategies, yours] }) with a strategy of type "${type}"`,
  })
}

const ODD_PATH_HINT =
  'a pattern with a folder matches only paths of printable UTF-8 without encoded dots, slashes and escapes, because a server may answer others from another folder'

function untrustedTarget(target: Target, ref: string, match: CredentialMatch, url: URL): SelectionError {
  const { id, sendTo } = match.credential
  const origin = placeOf(url)
  const expected = sendTo.map(({ pattern }) => pattern).join(', ') || 'no URL'
  // A credential restricted to a folder is not extended to the whole host.
  const held = sendTo.filter((pattern) => pattern.path !== '/' && covers({ ...pattern, path: '/' }, url))
  const isHeld = held.length > 0
  // It is below the folder, and yet the pattern does not match.
  const odd = held.some(({ path }) => url.pathname.startsWith(path)) ? pathProblem(url.pathname) : undefined
  const wanted = isHeld ? folderFor(url) : patternFor(url)
  const isFolder = wanted !== undefined && wanted !== `${origin}/`
  const place = isFolder ? `is below ${wanted}` : `is on ${origin}`
  const where = odd === undefined ? place : `has "${odd}" in its path, which servers may read as another path`
  return new SelectionError(
    'CREDENTIAL_TARGET_UNTRUSTED',
    `"${id}" may be sent to ${patternsText(sendTo)}; this ${target.kind.replace('_', ' ')} ${where}. Nothing was sent`,
    {
      pointer: `${target.pointer}/href`,
      ref,
      credential: id,
      actual: origin,
      expected,
      ...(odd !== undefined && { hint: ODD_PATH_HINT }),
      // People paste the command: one with characters that a shell reads is not shown.
      ...(/^[\w:/.%~-]+$/.test(wanted ?? '') && {
        hint:
          otherService(match, target, ref, url) ??
          `if you trust that ${isFolder ? 'folder' : 'host'}: stac-auth credentials trust ${id} ${wanted}; in code, "sendTo" of "${id}"`,
      }),
    },
  )
}

/**
 * Returns the hint where credentials belong to one service, and the document does not say that the target is on that of the credential: its
 * patterns are not to be extended then. Undefined for all others.
 */
function otherService({ credential, strategy, scheme }: CredentialMatch, target: Target, ref: string, url: URL): string | undefined {
  if (!strategy.suits || strategy.suits(credential, target)) return undefined
  const form = strategy.describe(scheme, { url: url.href, target })
  const id = `${idFor(ref)}-${url.hostname}`.slice(0, 64)
  const entry = { ...entryFor(form, ref, patternFor(url) ?? `${placeOf(url)}/`), id }
  return `"${credential.id}" is for another service or bucket. If you trust ${placeOf(url)}${serviceOf(form)} and have keys for it, add another credential${isInPage() ? '' : ' to the credential file'}: ${JSON.stringify(entry)}`
}

/** Returns the service that the document states for a target, for hints. */
function serviceOf({ credential: { endpoint } }: CredentialForm): string {
  return typeof endpoint === 'string' ? ` at ${endpoint}` : ''
}

function placeOf({ protocol, host, origin }: URL): string {
  return protocol === 's3:' ? `s3://${host}` : origin
}

function untrustedEndpoint(ref: string, { id }: Credential, pointer: string, expected: string | undefined, actual: string): SelectionError {
  const has = expected === undefined ? 'does not name it' : `has ${expected}`
  const hint = `if the provider documents that URL, write it into "${id}": URLs from catalogs are never adopted`
  return new SelectionError(
    'CREDENTIAL_ENDPOINT_UNTRUSTED',
    `scheme "${ref}" sends the secret to ${actual}, credential "${id}" ${has}. Nothing was sent`,
    { pointer, ref, credential: id, actual, hint, ...(expected !== undefined && { expected }) },
  )
}

function mismatch(
  ref: string,
  { id }: Credential,
  pointer: string,
  name: string,
  expected: string | undefined,
  actual: string,
): SelectionError {
  const hint = `if the provider requires that, add a credential for it beside "${id}"; if not, report it to the publisher of the catalog`
  return new SelectionError(
    'SCHEME_MISMATCH',
    `scheme "${ref}" requires ${name} "${actual}", credential "${id}" has "${expected ?? 'none'}". Nothing was sent`,
    { pointer, ref, credential: id, actual, hint, ...(expected !== undefined && { expected }) },
  )
}

/** How a credential differs from a scheme. */
interface Miss<C> {
  readonly credential: C
  /** Of the scheme; a URL if one differs. */
  readonly member: IdentityMember
  /** The value in the credential. */
  readonly expected: string | undefined
  readonly sharesUrl: boolean
}

/** Returns the difference to the credential that shares most with the scheme, among those that `matters` (called with whether a URL is shared). */
function nearestMiss<C>(
  tuples: readonly Identity[],
  known: readonly { readonly credential: C; readonly identity: Identity }[],
  matters: (credential: C, sharesUrl: boolean) => boolean,
): Miss<C> | undefined {
  let best: (Miss<C> & { readonly shared: number }) | undefined
  for (const { credential, identity } of known) {
    for (const tuple of tuples) {
      const agreeing = tuple.filter((wanted) => agrees(wanted, identity))
      const sharesUrl = agreeing.some(({ url }) => url !== undefined)
      const member = firstDifference(tuple, identity)
      if (!member || agreeing.length <= (best?.shared ?? -1) || !matters(credential, sharesUrl)) continue
      best = { credential, member, sharesUrl, shared: agreeing.length, expected: identity.find(({ name }) => name === member.name)?.value }
    }
  }
  return best
}

/** Returns the first difference; URLs are compared before other members. */
function firstDifference(tuple: Identity, credential: Identity): IdentityMember | undefined {
  const different = tuple.filter((member) => !agrees(member, credential))
  return different.find(({ url }) => url !== undefined) ?? different[0]
}

/**
 * True in pages and their workers, which have neither a credential file nor environment variables. `#platform` would say it as well, but
 * pages would load it as a script of its own.
 */
function isInPage(): boolean {
  return 'document' in globalThis || 'importScripts' in globalThis
}

/** Returns `NO_CREDENTIAL` with a credential to add. */
function missingCredential(target: Target, ref: string, scheme: AuthScheme, strategy: Strategy | undefined, url: URL): SelectionError {
  const place = placeOf(url)
  const isLost = isUnusable(scheme.type, url.href)
  const form = strategy && !isLost ? strategy.describe(scheme, { url: url.href, target }) : undefined
  const entry = form && entryFor(form, ref, patternFor(url) ?? `${place}/`)
  return new SelectionError('NO_CREDENTIAL', `no credential for ${place} (scheme "${ref}", type ${scheme.type})`, {
    pointer: refPointer(target, ref),
    ref,
    ...(isLost && { hint: 'this type cannot authorize s3: URLs: report it to the publisher' }),
    ...(entry && {
      hint: `if you trust ${place}${serviceOf(form)}, add this credential${isInPage() ? '' : ' to the credential file'}: ${JSON.stringify(entry)}`,
    }),
  })
}

/** Returns a credential with every field to fill in; secrets are environment variables to set, except in pages. */
function entryFor({ credential, fields }: CredentialForm, ref: string, sendTo: string): Record<string, unknown> {
  const id = idFor(ref)
  const filled: Record<string, unknown> = { id, ...credential }
  for (const [name, field] of Object.entries(fields))
    if (field.required && filled[name] === undefined) filled[name] = placeholder(id, name, field)
  return { ...filled, sendTo: [sendTo] }
}

/** Returns the id of a credential for a reference. */
function idFor(ref: string): string {
  return ref.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 64) || 'credential'
}

/** Returns the placeholder for a field that only the user knows; for a secret the environment variable to set, except in pages. */
export function placeholder(id: string, name: string, { kind }: Field): unknown {
  if (kind === 'secret' && !isInPage()) return { env: variableFor(id, name) }
  if (kind === 'signed-url-patterns' || kind === 'patterns') return ['https://…/']
  return '…'
}

/**
 * Returns the default environment variable for a secret of a credential. The name of a scheme is text of the catalog: without the prefix it
 * could name a variable that has a secret for something else.
 */
export function variableFor(id: string, field: string): string {
  return `STAC_AUTH_SECRET_${id}_${field}`
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .toUpperCase()
}
