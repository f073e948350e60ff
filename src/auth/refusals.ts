/** Why nothing could be selected: errors and explanations from the reasons of a selection. Loaded when one is needed. */
import { type AuthError, SelectionError } from '../errors.ts'
import { endedAt, type UrlSignature } from '../http/url-signature.ts'
import { isObject } from '../stac/document.ts'
import type { AuthScheme } from '../stac/scheme.ts'
import { type MalformedRef, refPointer, type SchemeMap, type Target } from '../stac/target.ts'
import { nearMiss } from '../text/suggest.ts'
import type { ByAddressExplanation, Explanation, RefExplanation, SignatureExplanation } from './auth.ts'
import { type Credential, type CredentialForm, type Field, inputIdOf } from './credential.ts'
import { folderFor, isUnusable, patternFor } from './requirement.ts'
import {
  agrees,
  type CredentialMatch,
  coversTarget,
  type MatchedScheme,
  type OwnCredential,
  type RejectedReference,
  type Selection,
  STAGES,
  type UsableReference,
} from './select.ts'
import type { Identity, IdentityMember, Strategy, Warning } from './strategy.ts'
import { covers, pathProblem, patternsText } from './url-pattern.ts'

/** Returns the error of the rejected reference that passed most checks, and the others in `reasons`; of equals the first. */
export function refusalOf({ target, url, rejected }: Selection): AuthError {
  const stageOf = ({ stage }: RejectedReference) => STAGES.indexOf(stage)
  const best = rejected.reduce((other, refusal) => (stageOf(refusal) > stageOf(other) ? refusal : other))
  const error = errorOf(best, target as Target, url)
  const reasons = rejected.filter((refusal) => refusal !== best).map((refusal) => errorOf(refusal, target as Target, url))
  return reasons.length === 0 ? error : new SelectionError(error.code, error.message, { ...error, reasons })
}

function errorOf({ ref = '', reason }: RejectedReference, target: Target, url: URL): AuthError {
  switch (reason.kind) {
    case 'error':
      return reason.error
    case 'malformed':
      return malformed(target, reason.value)
    case 'not defined':
      return notDefined(target, ref, reason.maps)
    case 'unsupported':
      return unsupported(ref, reason.type, reason.pointer)
    case 'no credential':
      return noCredential(target, ref, reason.scheme, reason.known, url)
  }
}

/** Explains a target whose URL is refused, whatever its references say. */
export function explainUrl({ pointer, href, refs, malformedRefs = [] }: Target, error: AuthError): Explanation {
  const names = [...refs, ...malformedRefs.map(textOf)]
  return { ...fieldsOf(error), pointer, href, refs: names.map((ref) => ({ ref, ...fieldsOf(error) })), warnings: [] }
}

/** What an explanation asks the engine. */
interface ExplainOptions {
  /** Returns why the credential of a usable reference needs a login; sends no request. */
  readonly loginRequired: (reference: UsableReference) => Promise<AuthError | undefined>
  /** Epoch milliseconds. */
  readonly now: number
}

/** Explains a selection for a target: by reference, or by URL when it has none. */
export async function explain(target: Target, selection: Selection, { loginRequired, now }: ExplainOptions): Promise<Explanation> {
  const { pointer, href } = target
  const { url, signature, usable, rejected, notOptedIn } = selection
  if (signature) return { pointer, href, refs: target.refs.map((ref) => ({ ref })), signature: signed(signature, now), warnings: [] }
  const warnings: Warning[] = []

  /** Explains one reference, or the credential selected by URL. */
  async function one(reference: UsableReference | RejectedReference): Promise<Omit<RefExplanation, 'ref'>> {
    if ('reason' in reference) return fieldsOf(errorOf(reference, target, url))
    warnings.push(...reference.warnings)
    const lacking = await loginRequired(reference)
    if (lacking) return { ...fieldsOf(lacking), ...loginOf(lacking) }
    return { ...(reference.match && { credential: reference.match.credential.id }) }
  }

  if (target.refs.length === 0 && !target.malformedRefs) {
    const [only] = [...usable, ...rejected]
    const unused = notOptedIn && { credential: notOptedIn.id, used: false }
    const byAddress: ByAddressExplanation | undefined = only ? { used: true, ...(await one(only)) } : unused
    return { pointer, href, refs: [], ...(byAddress && { byAddress }), warnings }
  }
  const named = target.refs.flatMap((ref) => [...usable, ...rejected].find((reference) => reference.ref === ref) ?? [])
  const refs: RefExplanation[] = []
  for (const reference of named) {
    const { ref = '', type } = reference
    refs.push({ ref, ...(type !== undefined && { scheme: type }), ...(await one(reference)) })
  }
  for (const { reason } of rejected)
    if (reason.kind === 'malformed') refs.push({ ref: textOf(reason.value), ...fieldsOf(malformed(target, reason.value)) })
  return { pointer, href, refs, warnings }
}

function signed(signature: UrlSignature, now: number): SignatureExplanation {
  const { kind, expiresAt } = signature
  const end = expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }
  return { kind, ...end, expired: endedAt(signature, now) !== undefined }
}

const MAX_TEXT = 40

/** Returns a malformed reference as JSON without nested values, because nesting in a catalog may be unlimited. */
function textOf({ value }: MalformedRef): string {
  const flat = (inner: unknown) => (typeof inner === 'object' && inner !== null && Object.keys(inner).length > 0 ? '…' : inner)
  const shown = Array.isArray(value)
    ? value.slice(0, MAX_TEXT).map(flat)
    : isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, flat(inner)]))
      : value
  const text = JSON.stringify(shown)
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
}

/** Returns the id of the credential that must log in first. */
function loginOf({ code, credential }: AuthError): { credential?: string } {
  return code === 'LOGIN_REQUIRED' && credential !== undefined ? { credential } : {}
}

/** Returns the fields of the error without the id of its credential, which is named for `LOGIN_REQUIRED` only. */
function fieldsOf({ code, message, hint, pointer }: AuthError) {
  return { code, message, ...(hint && { hint }), ...(pointer && { pointer }) }
}

/** Returns the error for a valid scheme, in comparison with the credential that shares most with it. */
function noCredential(target: Target, ref: string, matched: MatchedScheme, same: readonly OwnCredential[], url: URL): SelectionError {
  const { strategy, scheme, identity, pointer } = matched
  const known = strategy?.addressProblem?.(target.href)
  // A credential for that URL would not help.
  if (known) return new SelectionError(known.code, known.message, { ...known, pointer: `${target.pointer}/href`, ref })
  const allowed = matching(matched, target)
  if (allowed) return untrustedTarget(target, ref, allowed, url)
  if (matched.otherChain) return otherChain(ref, matched.otherChain, matched)
  const coversIt = (credential: Credential) => strategy !== undefined && coversTarget({ credential, strategy, scheme }, url, target)
  const nearest = nearestDifference(identity, same, (credential, sharesUrl) => sharesUrl || coversIt(credential))
  if (nearest?.member.url)
    return untrustedEndpoint(ref, nearest.credential, pointer + nearest.member.pointer, nearest.expected, nearest.member.value)
  if (!nearest || !coversIt(nearest.credential)) return missingCredential(target, ref, scheme, strategy, url)
  return mismatch(ref, nearest.credential, pointer + nearest.member.pointer, nearest.member.name, nearest.expected, nearest.member.value)
}

/** Returns the credential with the scheme's identity whose `sendTo` does not include the target; of several one that suits it. */
function matching({ matches, strategy }: MatchedScheme, target: Target): CredentialMatch | undefined {
  const same = matches.filter((match) => match.strategy === strategy)
  return same.find(({ credential }) => strategy?.suits?.(credential, target)) ?? same[0]
}

function otherChain(ref: string, credential: Credential, { pointer }: MatchedScheme): SelectionError {
  const { id } = credential
  const message = `scheme "${ref}" refers to other schemes than that of "${inputIdOf(credential)}", which credential "${id}" uses. Nothing was sent`
  return new SelectionError('SCHEME_MISMATCH', message, { pointer: `${pointer}/auth:refs`, ref, credential: id })
}

/** Returns `SCHEME_NOT_FOUND`, or `SCHEMES_INVALID` when `auth:schemes` is not an object. */
function notDefined(target: Target, ref: string, maps: readonly SchemeMap[]): SelectionError {
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
function malformed({ kind, pointer, refsOf }: Target, ref: MalformedRef): SelectionError {
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
function unsupported(ref: string, type: string, pointer: string): SelectionError {
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
interface Difference {
  readonly credential: Credential
  /** Of the scheme; a URL if one differs. */
  readonly member: IdentityMember
  /** The value in the credential. */
  readonly expected: string | undefined
}

/** Returns the difference to the credential that shares most with the scheme, among those that `matters` (called with whether a URL is shared). */
function nearestDifference(
  tuples: readonly Identity[],
  known: readonly OwnCredential[],
  matters: (credential: Credential, sharesUrl: boolean) => boolean,
): Difference | undefined {
  let best: (Difference & { readonly shared: number }) | undefined
  for (const { credential, identity } of known) {
    for (const tuple of tuples) {
      const agreeing = tuple.filter((wanted) => agrees(wanted, identity))
      const sharesUrl = agreeing.some(({ url }) => url !== undefined)
      const member = firstDifference(tuple, identity)
      if (!member || agreeing.length <= (best?.shared ?? -1) || !matters(credential, sharesUrl)) continue
      best = { credential, member, shared: agreeing.length, expected: identity.find(({ name }) => name === member.name)?.value }
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
