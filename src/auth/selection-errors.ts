/** Says why not: loaded when a reference is refused. */
import { type AuthError, SelectionError } from '../errors.ts'
import { isObject } from '../stac/json.ts'
import type { AuthScheme } from '../stac/scheme.ts'
import type { SchemeMap } from '../stac/scope.ts'
import { type MalformedRef, refPointer, type Target } from '../stac/target.ts'
import { nearMiss } from '../text/suggest.ts'
import type { Credential, CredentialForm, Field } from './credential.ts'
import { folderFor, patternFor } from './need.ts'
import { agrees, type CredentialMatch, coversTarget, type Known, type Refusal, type SchemeMatch } from './scheme-matching.ts'
import type { Identity, IdentityMember, Strategy } from './strategy.ts'
import { covers } from './url-pattern.ts'

/** The reference that got furthest speaks for all; of equals the first. */
export async function furthest(refusals: readonly Refusal[]): Promise<AuthError> {
  const best = refusals.reduce((best, refusal) => (refusal.stage > best.stage ? refusal : best))
  const error = await best.error()
  const reasons = await Promise.all(refusals.filter((refusal) => refusal !== best).map((refusal) => refusal.error()))
  return reasons.length === 0 ? error : new SelectionError(error.code, error.message, { ...error, reasons })
}

/** What is known when no entry can be used for a scheme that is in order. */
export interface Missed {
  readonly target: Target
  readonly ref: string
  readonly match: SchemeMatch
  readonly url: URL
  /** The entries of the scheme's type. */
  readonly same: readonly Known[]
}

/** The kind of miss, measured against the entry that shares most with the scheme. */
export function missed({ target, ref, match, url, same }: Missed): SelectionError {
  const granted = matching(match, target)
  if (granted) return untrustedTarget(target, ref, granted.credential, url)
  if (match.otherChain) return otherChain(ref, match.otherChain, match)
  const { strategy, scheme, identity, pointer } = match
  const coversIt = (credential: Credential) => strategy !== undefined && coversTarget({ credential, strategy, scheme }, url, target)
  const miss = nearestMiss(identity, same, (credential, sharesUrl) => sharesUrl || coversIt(credential))
  if (miss?.member.url) return untrustedEndpoint(ref, miss.credential, pointer + miss.member.pointer, miss.expected, miss.member.value)
  if (!miss || !coversIt(miss.credential)) return missingCredential(target, ref, scheme, strategy, url)
  return mismatch(ref, miss.credential, pointer + miss.member.pointer, miss.member.name, miss.expected, miss.member.value)
}

/** The entry with the scheme's identity whose `sendTo` does not cover the target: of several one that suits. */
function matching({ matches, strategy }: SchemeMatch, target: Target): CredentialMatch | undefined {
  const same = matches.filter((match) => match.strategy === strategy)
  return same.find(({ credential }) => strategy?.suits?.(credential, target)) ?? same[0]
}

function otherChain(ref: string, { id, with: via, subject }: Credential, { pointer }: SchemeMatch): SelectionError {
  const message = `scheme "${ref}" names other schemes for its input than that of "${via ?? subject}", which "${id}" uses. Nothing was sent`
  return new SelectionError('SCHEME_MISMATCH', message, { pointer: `${pointer}/auth:refs`, ref, credential: id })
}

/** `SCHEME_NOT_FOUND`, or `SCHEMES_INVALID` when what should hold the schemes is no object. */
export function notFound(target: Target, ref: string, maps: readonly SchemeMap[]): SelectionError {
  const broken = maps.find(({ schemes }) => !isObject(schemes))
  if (broken) return new SelectionError('SCHEMES_INVALID', 'auth:schemes is not an object', { pointer: broken.pointer, ref })
  const near = nearMiss(
    ref,
    maps.flatMap(({ schemes }) => Object.keys(schemes as object)),
  )
  const message = `"${ref}" is not defined in auth:schemes${near === undefined ? '' : ` (did you mean "${near}"?)`}`
  return new SelectionError('SCHEME_NOT_FOUND', message, { pointer: refPointer(target, ref), ref })
}

/** `SCHEME_INVALID` for a reference that is not a name: what the document asks for is not known, so nothing is sent. */
export function malformed({ kind, pointer, refsOf }: Target, ref: MalformedRef): SelectionError {
  const what = kind.replace('_', ' ')
  const isList = ref.pointer !== `${refsOf.pointer}/auth:refs`
  const problem = `${isList ? 'an element of auth:refs' : 'auth:refs'} of this ${what} is ${kindOfValue(ref.value)}`
  const expected = isList ? 'a scheme name' : 'a list of scheme names'
  return new SelectionError('SCHEME_INVALID', `${problem}, not ${expected}. Nothing was sent`, {
    pointer: ref.pointer,
    hint: `auth:refs of ${pointer} must be a list of names from auth:schemes: tell whoever publishes the document, or repair your copy of it`,
  })
}

function kindOfValue(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (value === '') return 'an empty string'
  if (typeof value === 'number') return 'a number'
  return Array.isArray(value) ? 'a list' : 'an object'
}

/** `SCHEME_UNSUPPORTED` for a type without a strategy. */
export function unsupported(ref: string, type: string, pointer: string): SelectionError {
  return new SelectionError('SCHEME_UNSUPPORTED', `scheme "${ref}" has the type "${type}", which nobody here knows`, {
    pointer,
    ref,
    hint: `in code: createAuth({ strategies: [...defaultStrategies, yours] }) with a strategy of type "${type}"`,
  })
}

function untrustedTarget(target: Target, ref: string, { id, sendTo }: Credential, url: URL): SelectionError {
  const origin = url.protocol === 's3:' ? `s3://${url.host}` : url.origin
  const patterns = sendTo.map(({ pattern }) => pattern).join(', ') || 'no address'
  // An entry that is held to a folder is not widened to all of its host.
  const isHeld = sendTo.some((pattern) => pattern.path !== '/' && covers({ ...pattern, path: '/' }, url))
  const wanted = isHeld ? folderFor(url) : patternFor(url)
  const isFolder = wanted !== undefined && wanted !== `${origin}/`
  return new SelectionError(
    'CREDENTIAL_TARGET_UNTRUSTED',
    `"${id}" may be sent to ${patterns}; this ${target.kind.replace('_', ' ')} is ${isFolder ? `below ${wanted}` : `on ${origin}`}. Nothing was sent`,
    {
      pointer: `${target.pointer}/href`,
      ref,
      credential: id,
      actual: origin,
      expected: patterns,
      ...(wanted !== undefined && {
        hint: `if you trust that ${isFolder ? 'folder' : 'host'}: stac-auth credentials trust ${id} ${wanted}; in code, "sendTo" of "${id}"`,
      }),
    },
  )
}

function untrustedEndpoint(ref: string, { id }: Credential, pointer: string, expected: string | undefined, actual: string): SelectionError {
  const has = expected === undefined ? 'does not name it' : `has ${expected}`
  const hint = `ask the provider for its address, and write it into "${id}" if it is this one: what a catalog says is never taken over`
  return new SelectionError(
    'CREDENTIAL_ENDPOINT_UNTRUSTED',
    `scheme "${ref}" sends the secret to ${actual}, entry "${id}" ${has}. Nothing was sent`,
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
  const hint = `if the provider asks for that, add an entry for it beside "${id}"; if not, tell whoever publishes the catalog`
  return new SelectionError(
    'SCHEME_MISMATCH',
    `scheme "${ref}" wants ${name} "${actual}", entry "${id}" has "${expected ?? 'none'}". Nothing was sent`,
    { pointer, ref, credential: id, actual, hint, ...(expected !== undefined && { expected }) },
  )
}

/** How an credential misses a scheme. */
interface Miss<C> {
  readonly credential: C
  /** Of the scheme; a URL if one differs. */
  readonly member: IdentityMember
  /** What the credential has in its place. */
  readonly expected: string | undefined
  readonly sharesUrl: boolean
}

/** The miss of the credential that shares most with the scheme, among those that `matters` (told whether a URL is shared). */
function nearestMiss<C>(
  tuples: readonly Identity[],
  known: readonly { readonly credential: C; readonly identity: Identity }[],
  matters: (credential: C, sharesUrl: boolean) => boolean,
): Miss<C> | undefined {
  let best: (Miss<C> & { readonly shared: number }) | undefined
  for (const { credential, identity } of known) {
    for (const tuple of tuples) {
      const agreeing = tuple.filter((member) => agrees(member, identity))
      const sharesUrl = agreeing.some(({ url }) => url !== undefined)
      const member = firstDifference(tuple, identity)
      if (!member || agreeing.length <= (best?.shared ?? -1) || !matters(credential, sharesUrl)) continue
      best = { credential, member, sharesUrl, shared: agreeing.length, expected: identity.find(({ name }) => name === member.name)?.value }
    }
  }
  return best
}

/** URLs are compared before other members. */
function firstDifference(tuple: Identity, credential: Identity): IdentityMember | undefined {
  const different = tuple.filter((member) => !agrees(member, credential))
  return different.find(({ url }) => url !== undefined) ?? different[0]
}

/** `NO_CREDENTIAL`, with the entry that would help ready to paste. */
function missingCredential(target: Target, ref: string, scheme: AuthScheme, strategy: Strategy | undefined, url: URL): SelectionError {
  const place = url.protocol === 's3:' ? `s3://${url.host}` : url.origin
  const entry = strategy && entryFor(strategy.describe(scheme, { url: url.href, target }), ref, patternFor(url) ?? `${place}/`)
  return new SelectionError('NO_CREDENTIAL', `no credential for ${place} (scheme "${ref}", type ${scheme.type})`, {
    pointer: refPointer(target, ref),
    ref,
    ...(entry && { hint: `if you trust ${place}, add this entry to the credential file: ${JSON.stringify(entry)}` }),
  })
}

/** An entry with every field a user must fill in, secrets as the environment variables to set. */
function entryFor({ entry, fields }: CredentialForm, ref: string, sendTo: string): Record<string, unknown> {
  const id = ref.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 64) || 'credential'
  const filled: Record<string, unknown> = { id, ...entry }
  for (const [name, field] of Object.entries(fields))
    if (field.required && filled[name] === undefined) filled[name] = placeholder(id, name, field)
  return { ...filled, sendTo: [sendTo] }
}

/** What stands in an entry for a field that only its user knows; for a secret the environment variable to set. */
export function placeholder(id: string, name: string, { kind }: Field): unknown {
  if (kind === 'secret') return { env: variableFor(id, name) }
  if (kind === 'signed-url-patterns' || kind === 'patterns') return ['https://…/']
  return '…'
}

/** The environment variable in which a secret of an entry is expected unless its user says otherwise. */
export function variableFor(id: string, field: string): string {
  return `${id}_${field}`
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .toUpperCase()
}
