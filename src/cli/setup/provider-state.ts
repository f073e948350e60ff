/** The ways in to a provider: what each needs, which are set up, and what the registry says differently since. */
import { isDeepStrictEqual } from 'node:util'
import type { CredentialObject, SecretValue } from '../../auth/credential.ts'
import { loadStrategies } from '../../auth/strategy.ts'
import { matchesAny, parseUrlPattern } from '../../auth/url-pattern.ts'
import { isRegisteredScheme } from '../../http/challenge.ts'
import { type CredentialTemplate, credentialsFrom, type Hole, type Provider, type Way } from '../../providers/provider.ts'
import { isObject } from '../../stac/document.ts'
import { defaultStrategies } from '../../strategies/index.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { forJson, forLine } from '../../text/sanitize.ts'
import { patternsOf } from '../credentials/edit-credentials.ts'
import { plain } from '../credentials/question.ts'
import { variableOf } from '../credentials/questions.ts'

/** A way in that is set up. */
export interface WaySetUp {
  readonly way: Way
  /** The user's credentials, in the order of those of the way. */
  readonly credentials: readonly CredentialObject[]
  /** Where they differ from the registry. */
  readonly changes: readonly Change[]
  /** URL patterns of their `sendTo` that are not in the registry: the user's own, or removed since. */
  readonly own: readonly string[]
}

/** A field of a credential for which the registry has another value. */
export interface Change {
  readonly id: string
  readonly field: string
  /** The user's value; absent if there is none. */
  readonly before?: unknown
  /** The new value; a list keeps what the user has in it. */
  readonly after: unknown
}

/** Fields of a template that are compared otherwise: the id may be the user's own. */
const NOT_COMPARED = new Set(['id', 'type', 'with', 'subject'])

/**
 * Returns the ways in that are set up: by `provider` of the credentials, or for those without that field by their type and the URLs that they
 * may be sent to. A credential that several ways would have counts for the one that it is closest to.
 */
export function waysSetUp({ id, ways }: Provider, credentials: readonly CredentialObject[]): readonly WaySetUp[] {
  const found = ways.flatMap((way) => setUp(way, id, credentials) ?? [])
  return found.filter((one) => {
    const others = found.filter((other) => other.credentials.at(-1) === one.credentials.at(-1))
    return one === others.reduce((best, other) => (isCloser(other, best) ? other : best))
  })
}

function isCloser(one: WaySetUp, other: WaySetUp): boolean {
  if (one.changes.length !== other.changes.length) return one.changes.length < other.changes.length
  return fixedFields(one.way) > fixedFields(other.way)
}

/** Of two ways in that agree with what the user has, the one that says more is meant. */
function fixedFields({ credentials }: Way): number {
  return credentials.flatMap((template) => Object.values(template).filter((value) => !hasHole(value))).length
}

/** Returns the credentials of a way, or undefined if one is missing. */
function setUp(way: Way, provider: string, all: readonly CredentialObject[]): WaySetUp | undefined {
  const pairs: (readonly [CredentialTemplate, CredentialObject])[] = []
  for (const template of way.credentials) {
    const fitting = all.filter((one) => !pairs.some(([, known]) => known === one) && isMadeFrom(one, template, way, provider))
    const credential = fitting.find(({ id }) => id === template.id) ?? fitting[0]
    if (credential === undefined) return undefined
    pairs.push([template, credential])
  }
  return {
    way,
    credentials: pairs.map(([, credential]) => credential),
    changes: pairs.flatMap(([template, credential]) => changesOf(template, credential, provider)),
    own: pairs.flatMap(([template, credential]) => patternsOf(credential).filter((pattern) => !listOf(template.sendTo).includes(pattern))),
  }
}

/** True for a credential with the values of the user that the template has holes for. */
function isMadeFrom(credential: CredentialObject, template: CredentialTemplate, { holes }: Way, provider: string): boolean {
  const isChained = (one: CredentialObject) => (one.with ?? one.subject) !== undefined
  if (credential.type !== template.type || isChained(credential) !== isChained(template as CredentialObject)) return false
  const needed = Object.entries(template).filter(([, value]) => isNeeded(value, holes))
  if (!needed.every(([name]) => credential[name] !== undefined)) return false
  const patterns = patternsOf(credential)
  const known = listOf(template.sendTo)
  if (credential.provider === provider) return credential.id === template.id || patterns.some((pattern) => known.includes(pattern))
  const isAlike = Object.keys(template).every((name) => {
    const isFixed = typeof template[name] === 'string' && !NOT_COMPARED.has(name) && name !== 'use'
    return !isFixed || credential[name] === template[name]
  })
  return credential.provider === undefined && isAlike && patterns.length > 0 && patterns.every((pattern) => isWithin(pattern, known))
}

/** True for a pattern of the registry, and for URLs below one. */
function isWithin(pattern: string, known: readonly string[]): boolean {
  if (known.includes(pattern)) return true
  return (
    canParseUrl(pattern) &&
    !pattern.includes('*') &&
    matchesAny(
      known.map((one) => parseUrlPattern(one)),
      new URL(pattern),
    )
  )
}

/** True for a value that a user must have given, also in an object or a list. */
function isNeeded(value: unknown, holes: Way['holes']): boolean {
  if (Array.isArray(value)) return value.some((one) => isNeeded(one, holes))
  if (!isObject(value)) return false
  return typeof value.hole === 'string' ? !holes[value.hole]?.optional : Object.values(value).some((one) => isNeeded(one, holes))
}

/** Returns the fields for which the registry has another value. */
export function changesOf(template: CredentialTemplate, credential: CredentialObject, provider: string): readonly Change[] {
  const fields = Object.entries({ ...template, provider }).filter(([name, value]) => !NOT_COMPARED.has(name) && !hasHole(value))
  return fields.flatMap(([field, value]): Change[] => {
    const before = credential[field]
    const after = Array.isArray(value) ? [...new Set([...listOf(before), ...value])] : value
    if (isDeepStrictEqual(Array.isArray(value) ? listOf(before) : before, after)) return []
    return [{ id: String(credential.id), field, ...(before !== undefined && { before }), after }]
  })
}

function hasHole(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasHole)
  return isObject(value) && (Object.hasOwn(value, 'hole') || Object.values(value).some(hasHole))
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : value === undefined ? [] : [String(value)]
}

/** Names what only the user has for a way in. */
export function needsText(way: Way): string {
  const labels = requiredHoles(way).map(([, { label }]) => label.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase()))
  if (labels.length > 0) return labels.join(', ')
  return needsAccount(way) ? 'a login in the browser' : 'nothing'
}

/** Returns the holes that must be filled. */
export function requiredHoles({ holes }: Way): readonly (readonly [name: string, hole: Hole])[] {
  return Object.entries(holes).filter(([, { optional }]) => !optional)
}

/** Returns the ways in with those first whose values are all in variables of the environment. */
export function inOrder(ways: readonly Way[], env: Environment): readonly Way[] {
  const isReady = (way: Way) => {
    const holes = requiredHoles(way)
    return holes.length > 0 && holes.every(([, hole]) => variableOf(hole, env) !== undefined)
  }
  return [...ways.filter(isReady), ...ways.filter((way) => !isReady(way))]
}

type Environment = Readonly<Record<string, string | undefined>>

/** True for a way in that needs something of the user, or a login. */
export function needsAccount(way: Way): boolean {
  return requiredHoles(way).length > 0 || way.works.length === 0
}

/** Returns what stands for the values of the user: variables for secrets. */
export function placeholders(way: Way): Readonly<Record<string, SecretValue>> {
  const values = requiredHoles(way).map(([name, { kind, env: [variable = 'SECRET'] = [] }]): [string, SecretValue] => [
    name,
    kind === 'text' ? '…' : { env: variable },
  ])
  return Object.fromEntries(values)
}

/** Returns the credentials of a way as they stand in a credential file whose secrets are in variables. */
export function exampleOf(provider: Provider, way: Way): readonly CredentialObject[] {
  return credentialsFrom(provider, way.id, placeholders(way)) as readonly unknown[] as readonly CredentialObject[]
}

/**
 * Returns the schemes that describe the files of a provider in `auth:schemes` of a catalog, by names for `auth:refs`: those that its credentials
 * answer. Signing services are left out, whose parameters are more than a credential says, and HTTP authentication schemes that clients do not
 * know.
 */
export async function catalogSchemes(provider: Provider): Promise<Readonly<Record<string, object>>> {
  const strategies = await loadStrategies(defaultStrategies)
  const schemes: Record<string, object> = {}
  for (const credential of provider.ways.flatMap((way) => ownCredentials(exampleOf(provider, way)))) {
    if (credential.type === 'signedUrl' || (credential.type === 'http' && !isRegisteredScheme(String(credential.scheme)))) continue
    const scheme = withScopes(
      strategies.find(({ type }) => type === credential.type)?.schemeOf(credential as never) ?? {},
      credential.scopes,
    )
    const isKnown = Object.values(schemes).some((one) => forJson(one) === forJson(scheme))
    if (!isKnown) schemes[credential.type === 's3' ? 's3' : String(credential.id)] = scheme
  }
  return schemes
}

/** Leaves out credentials that only open the way to another one. */
function ownCredentials(credentials: readonly CredentialObject[]): readonly CredentialObject[] {
  return credentials.filter(({ id }) => !credentials.some((other) => other.with === id && other.type === 'http'))
}

/** Adds the scopes that every flow must have, also where none are needed. */
function withScopes(scheme: object, needed: unknown): object {
  const { flows } = scheme as { readonly flows?: Readonly<Record<string, object>> }
  if (!flows) return scheme
  const scopes = Object.fromEntries((Array.isArray(needed) ? needed : []).map((name) => [name, '']))
  return { ...scheme, flows: Object.fromEntries(Object.entries(flows).map(([name, flow]) => [name, { ...flow, scopes }])) }
}

/** Where the user gets what is asked for. */
export function accountText({ account }: Provider): string {
  return `  ${account.url}  ${account.text}\n`
}

/** One line for each field that the registry has another value for. */
export function changesText(changes: readonly Change[], own: readonly string[]): string {
  const lines = changes.flatMap(({ id, field, before, after }) => {
    const name = `  ${plain(id)} ${field}`
    if (!Array.isArray(after)) return [...(before === undefined ? [] : [`${name}  - ${textOf(before)}`]), `${name}  + ${textOf(after)}`]
    const known = [before ?? []].flat()
    return after.filter((one) => !known.includes(one)).map((one) => `${name}  + ${textOf(one)}`)
  })
  const kept = own.map((pattern) => `  ${forLine(pattern)} stays: it is not in the registry, remove it if you did not add it`)
  return [...lines, ...kept].map((line) => `${line}\n`).join('')
}

function textOf(value: unknown): string {
  return plain(typeof value === 'string' ? value : forJson(value), 300)
}
