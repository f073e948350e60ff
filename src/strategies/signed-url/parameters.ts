/** Values for the parameters of a signing API, from the user's code, the user's credential and the target, never from the catalog. */
import type { Secret } from '../../auth/credential.ts'
import type { Resource, Warning } from '../../auth/strategy.ts'
import { ConfigurationError, CredentialError, type ErrorCode, SelectionError } from '../../errors.ts'
import { isForbiddenHeader } from '../../http/headers.ts'
import { isObject, type JsonObject, pointer } from '../../stac/document.ts'
import type { SignedUrlFlow, SigningParameter } from '../../stac/scheme.ts'
import { reveal, unfit } from '../credential-values.ts'
import {
  apiPlaceholders,
  apiProblem,
  filled,
  filledApi,
  isInDocument,
  isStatedOnly,
  placeholderProblem,
  placeholdersIn,
  placeholderValue,
  type SigningTarget,
  urlValue,
} from './placeholders.ts'
import type { SignedUrlCredential } from './signed-url.ts'

/** The value of a parameter. */
export type ParameterValue = string | number | boolean

/**
 * Returns the value of a parameter, before all other sources; `undefined` leaves it to the credential and the conventions.
 * `definition` comes from the catalog, `resource` is the target to sign.
 */
export type ParameterFunction = (
  name: string,
  definition: SigningParameter,
  resource: Resource,
) => ParameterValue | undefined | Promise<ParameterValue | undefined>

/** The values returned by the user's function, by name. */
export type Answers = ReadonlyMap<string, ParameterValue>

/** A parameter with its value; `in` says where it is sent. */
export interface BoundParameter {
  readonly name: string
  readonly in: SigningParameter['in']
  readonly value: ParameterValue
}

const NONE: ReadonlyMap<string, Secret> = new Map()

/**
 * Checks all parameters before a credential is selected: first who may set them, then their schemas and the values known so far, then
 * whether each required one has a value; with a function in the credential that is known only after calling it.
 *
 * Errors: `PARAM_FORBIDDEN`, `PARAM_SCHEMA_REF`, `PARAM_SCHEMA_KEYWORD`, `PARAM_SCHEMA_VALUE`, `PARAM_UNBOUND`.
 */
export function checkParameters(
  flow: SignedUrlFlow,
  at: string,
  credential: SignedUrlCredential,
  resource: SigningTarget,
): readonly Warning[] {
  const { parameter } = credential
  const parameters = parametersOf(flow, credential)
  const warnings: Warning[] = []
  for (const [name, definition] of parameters) checkName(name, definition, pointer(at, 'parameters', name), credential)
  for (const [name, definition] of parameters) {
    if (!isObject(definition.schema)) continue
    const place = pointer(at, 'parameters', name, 'schema')
    warnings.push(...inspectSchema(definition.schema, place))
    const text = parameter ? undefined : textAtHand(name, credential, resource)
    checkValue(name, definition, secretOf(name, credential) ? typed(text, definition) : text, place)
  }
  for (const [name, { required }] of parameters) {
    const secret = secretOf(name, credential)
    if (parameter || !(required || secret) || (secret && !secret.isText) || textAtHand(name, credential, resource) !== undefined) continue
    throw unbound(name, { credential, resource, at: pointer(at, 'parameters', name) })
  }
  filledApi(credential, resource)
  return warnings
}

/** Returns the parameters of a call that no catalog describes: those of the credential, and the URL of a signed URL unless one of them contains it. */
export function ownParameters(credential: SignedUrlCredential): Readonly<Record<string, SigningParameter>> {
  const { method, parameters = NONE, answer = 'url' } = credential
  const place = method === 'GET' ? 'query' : 'body'
  const isMade = answer !== 'url' || placeholdersOf(credential).length > 0 || secretOf('href', credential)
  const names = isMade ? [...parameters.keys()] : ['href', ...parameters.keys()]
  return Object.fromEntries(names.map((name) => [name, { in: IN_HEADER.test(name) ? 'header' : place, required: true }]))
}

/** Names that are headers by convention. */
const IN_HEADER = /^(?:authorization|x-.+)$/i

/** The fields whose parameters are sent in every call, and where. */
const PLACED = [
  ['headers', 'header'],
  ['query', 'query'],
  ['body', 'body'],
] as const

/** Returns the placeholders in the URL of the API and in the parameters of the credential. */
export function placeholdersOf(credential: SignedUrlCredential): readonly string[] {
  const { parameters = NONE, headers = NONE, query = NONE, body = NONE } = credential
  const secrets = [parameters, headers, query, body].flatMap((map) => [...map.values()])
  return [...apiPlaceholders(credential), ...secrets.flatMap((secret) => placeholdersIn(textIn(secret)))]
}

/** Returns `CONFIG_INVALID` for parameters that cannot be sent: an unsupported placeholder, a name that is used twice, a forbidden header. */
export function parametersProblem(credential: SignedUrlCredential): ConfigurationError | undefined {
  const inApi = apiProblem(credential)
  if (inApi) return inApi
  const names = new Set<string>()
  for (const field of ['headers', 'query', 'body', 'parameters'] as const) {
    for (const [name, secret] of credential[field] ?? NONE) {
      const at = pointer(`/${field}`, name)
      const unsupported = placeholderProblem(textIn(secret), at)
      if (unsupported) return unsupported
      if (names.has(name)) return new ConfigurationError('CONFIG_INVALID', `the parameter "${name}" has two values`, { pointer: at })
      names.add(name)
      if (field === 'headers' && isForbiddenHeader(name))
        return new ConfigurationError('CONFIG_INVALID', 'this header of a signing call cannot be set', { pointer: at })
    }
  }
  if (credential.body === undefined || credential.method === 'POST') return undefined
  return new ConfigurationError('CONFIG_INVALID', 'a GET request has no body: use "query", or the method POST', { pointer: '/body' })
}

/** Calls the user's function for each parameter. Errors: `CREDENTIAL_SOURCE` when it fails, `CREDENTIAL_VALUE_INVALID`. */
export async function askedParameters(flow: SignedUrlFlow, credential: SignedUrlCredential, resource: SigningTarget): Promise<Answers> {
  const { parameter, id } = credential
  const answers = new Map<string, ParameterValue>()
  if (!parameter) return answers
  for (const [name, definition] of parametersOf(flow, credential)) {
    let value: unknown
    try {
      value = await parameter(name, definition, resource)
    } catch {
      // The thrown error may contain secrets, so it is not attached.
      throw new CredentialError('CREDENTIAL_SOURCE', `parameter of "${id}": its function failed for "${name}"`, { credential: id })
    }
    if (value !== undefined) answers.set(name, fitting(value, name, id))
  }
  return answers
}

/**
 * Returns the parameters that have a value, in document order: from the function, else the credential, else by convention.
 *
 * Errors: `PARAM_UNBOUND`, `PARAM_SCHEMA_VALUE`, those of the credential's sources.
 */
export async function bindParameters(
  flow: SignedUrlFlow,
  credential: SignedUrlCredential,
  answers: Answers,
  resource: SigningTarget,
): Promise<readonly BoundParameter[]> {
  const bound: BoundParameter[] = []
  for (const [name, definition] of parametersOf(flow, credential)) {
    const secret = secretOf(name, credential)
    const value = answers.get(name) ?? (await ownValue(name, definition, credential, resource))
    if (value === undefined) {
      if (definition.required || secret) throw unbound(name, { credential, resource })
      continue
    }
    checkValue(name, definition, value)
    if (definition.in === 'header') checkHeader(name, value, credential)
    bound.push({ name, in: definition.in, value })
  }
  return bound
}

/** Returns the part of a signing call that the catalog or the target determines: calls that differ in it need different signatures. Without the resource: the part that all resources share. */
export function callIdentity(
  flow: SignedUrlFlow,
  credential: SignedUrlCredential,
  answers: Answers,
  resource?: SigningTarget,
): readonly unknown[] {
  const called = parametersOf(flow, credential).map(([name, { in: place, schema }]) => {
    return [name, textOf(place), textOf(schema?.type), answers.get(name) ?? (resource && valueOfTarget(name, credential, resource))]
  })
  return resource ? [filledApi(credential, resource), ...called] : called
}

/** Returns the value that the target determines; undefined for one that the credential alone does. */
function valueOfTarget(name: string, credential: SignedUrlCredential, resource: SigningTarget): string | undefined {
  const secret = secretOf(name, credential)
  const isOwn = secret && placeholdersIn(textIn(secret)).length === 0
  return isOwn ? undefined : textAtHand(name, credential, resource)
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/**
 * Returns the parameters of the catalog, and those that the credential sends in every call: where the user states a place, it counts. A
 * scheme without a URL, such as `planetaryComputer` of 1.0.0, describes an API that returns URLs, and no other one.
 */
function parametersOf({ parameters, authorizationApi }: SignedUrlFlow, credential: SignedUrlCredential): [string, SigningParameter][] {
  const placed = PLACED.flatMap(([field, place]) =>
    [...(credential[field]?.keys() ?? [])].map((name): [string, SigningParameter] => [name, { in: place, required: true }]),
  )
  const isOfUrls = (credential.answer ?? 'url') === 'url'
  const isStated = ([name, parameter]: [string, SigningParameter]) => {
    if (!isObject(parameter) || (authorizationApi === undefined && !isOfUrls && !secretOf(name, credential))) return false
    const lower = parameter.in === 'header' ? name.toLowerCase() : undefined
    return !placed.some(([own, { in: place }]) => own === name || (place === 'header' && own.toLowerCase() === lower))
  }
  const stated = isObject(parameters) ? (Object.entries(parameters) as [string, SigningParameter][]) : []
  return [...stated.filter(isStated), ...placed]
}

function secretOf(name: string, { headers, query, body, parameters }: SignedUrlCredential): Secret | undefined {
  return headers?.get(name) ?? query?.get(name) ?? body?.get(name) ?? parameters?.get(name)
}

function checkName(name: string, parameter: SigningParameter, at: string, credential: SignedUrlCredential): void {
  const isHeader = parameter.in === 'header'
  const isGiven = secretOf(name, credential) !== undefined
  if (isHeader && isGiven && !isForbiddenHeader(name)) return
  if (!isHeader && (isGiven || !isForbiddenHeaderToken(name))) return
  throw new SelectionError(
    'PARAM_FORBIDDEN',
    `the catalog may not choose the ${isHeader ? 'header' : 'parameter'} "${name}" of a signing call`,
    {
      pointer: isHeader ? `${at}/in` : at,
      ...(isHeader && { hint: `to send it, list "${name}" in the "headers" of your credential` }),
    },
  )
}

/** Query and body names may contain any character; only the forbidden words themselves are refused. */
function isForbiddenHeaderToken(name: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && isForbiddenHeader(name)
}

/** Returns the value of the credential with placeholders replaced, that of a source as it is; without one, the value in the URL. */
async function ownValue(name: string, definition: SigningParameter, credential: SignedUrlCredential, resource: SigningTarget) {
  const secret = secretOf(name, credential)
  if (!secret) return urlValue(name, credential, resource)
  const text = await reveal(secret, `parameters.${name}`, credential)
  return typed(secret.isText ? filled(text, credential, resource) : text, definition)
}

/** Returns the text of the credential with placeholders replaced, or the value of that name in the URL, without reading a source. */
function textAtHand(name: string, credential: SignedUrlCredential, resource: SigningTarget): string | undefined {
  const secret = secretOf(name, credential)
  if (!secret) return urlValue(name, credential, resource)
  return secret.isText ? filled(textIn(secret), credential, resource) : undefined
}

/** Returns the text of a secret; empty for one from a source. */
function textIn(secret: Secret): string {
  const text = secret.isText ? secret.reveal() : ''
  return typeof text === 'string' ? text : ''
}

/** Checks a value that is sent in a header, where not every character is allowed. */
function checkHeader(name: string, value: ParameterValue, { id }: SignedUrlCredential): void {
  if (typeof value !== 'string' || /^[\x20-\x7e]*$/.test(value)) return
  throw new SelectionError(
    'PARAM_SCHEMA_VALUE',
    `the value of "${name}" contains characters that are not allowed in a header. Nothing was sent`,
    {
      credential: id,
    },
  )
}

function checkValue(name: string, { schema }: SigningParameter, value: ParameterValue | undefined, at?: string): void {
  if (value === undefined || !isObject(schema) || satisfies(value, schema)) return
  throw new SelectionError('PARAM_SCHEMA_VALUE', `the value of "${name}" does not satisfy the catalog's schema`, at ? { pointer: at } : {})
}

interface Unbound {
  readonly credential: SignedUrlCredential
  readonly resource: SigningTarget
  readonly at?: string
}

function unbound(name: string, { credential, resource, at }: Unbound): SelectionError {
  const secret = secretOf(name, credential)
  const names = secret?.isText ? placeholdersIn(textIn(secret)) : [name]
  const { origin } = new URL(resource.url)
  const missing = names.filter((each) => secret && isInDocument(each) && placeholderValue(each, credential, resource) === undefined)
  const hint = missing.length
    ? `${missing.map((each) => `{${each}}`).join(' and ')} cannot be read from this document: write the value`
    : names.some((each) => isStatedOnly(each, resource))
      ? `to take bucket and key from URLs of that host, add "endpoint": "${origin}" to the credential: the endpoint in the document is not trusted`
      : secret
        ? `${names.map((each) => `{${each}}`).join(' and ')} cannot be read from URLs on ${origin}: write the value, or add "endpoint": "${origin}" to the credential`
        : `add it to the credential: "parameters": { ${JSON.stringify(name)}: "…" }`
  return new SelectionError('PARAM_UNBOUND', `the signing API needs a value for "${name}"`, { ...(at && { pointer: at }), hint })
}

function fitting(value: unknown, name: string, id: string): ParameterValue {
  const isText = typeof value === 'string'
  if (!isText && typeof value !== 'boolean' && !Number.isFinite(value))
    throw unfit(`parameter "${name}"`, id, 'is not a string, number or boolean')
  if (isText && /[\r\n\0]/.test(value)) throw unfit(`parameter "${name}"`, id, 'contains a line break')
  return value as ParameterValue
}

/** Converts text to numbers and booleans where the schema expects them. */
function typed(text: string | undefined, { schema }: SigningParameter): ParameterValue | undefined {
  if (text === undefined) return undefined
  const type = schema?.type
  if ((type === 'integer' || type === 'number') && /^-?\d+(?:\.\d+)?$/.test(text)) return Number(text)
  if (type === 'boolean' && /^(?:true|false)$/.test(text)) return text === 'true'
  return text
}

const MAX_DEPTH = 16

const MAX_KEYWORDS = 200

const KNOWN = new Set(
  'type enum const minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength multipleOf required pattern'.split(' '),
)

const SILENT = new Set('$schema title description default examples $comment format'.split(' '))

/**
 * Checks the schema for unsupported keywords in document order, and returns ignored keywords as warnings.
 *
 * Errors: `PARAM_SCHEMA_REF`, `PARAM_SCHEMA_KEYWORD` (`$id`, too deep, too many keywords), `PARAM_SCHEMA_VALUE`.
 */
export function inspectSchema(schema: JsonObject, at: string): readonly Warning[] {
  const warnings: Warning[] = []
  const ignored: string[] = []
  /** -1, because the schema itself is counted as well. */
  let keywords = -1
  const stack: Step[] = [{ value: schema, at, depth: 0 }]
  for (let step = stack.pop(); step; step = stack.pop()) {
    if (++keywords > MAX_KEYWORDS) throw refused('PARAM_SCHEMA_KEYWORD', `has more than ${MAX_KEYWORDS} keywords`, step.at)
    refuse(step)
    const { name, value, depth } = step
    if (name !== undefined && depth === 1 && !KNOWN.has(name) && !SILENT.has(name)) ignored.push(name)
    if (typeof value !== 'object' || value === null) continue
    const members = Object.keys(value)
      .slice(0, MAX_KEYWORDS + 1)
      .reverse()
    for (const member of members)
      stack.push({ name: member, value: (value as JsonObject)[member], at: pointer(step.at, member), depth: depth + 1 })
  }
  if (ignored.length)
    warnings.push({ code: 'PARAM_KEYWORD_IGNORED', message: `keywords without effect: ${ignored.join(', ')}`, pointer: at })
  if (typeof schema.pattern === 'string' && !isLinear(schema.pattern)) {
    const message = 'the pattern is not checked: it could take too long'
    warnings.push({ code: 'PARAM_PATTERN_UNSUPPORTED', message, pointer: pointer(at, 'pattern') })
  }
  return warnings
}

interface Step {
  readonly name?: string
  readonly value: unknown
  readonly at: string
  readonly depth: number
}

function refuse({ name, value, at, depth }: Step): void {
  if (name === '$ref' || name === '$dynamicRef') throw refused('PARAM_SCHEMA_REF', `has a ${name}, which is unsupported`, at)
  if (name === '$id') throw refused('PARAM_SCHEMA_KEYWORD', 'has an $id', at)
  if (depth > MAX_DEPTH) throw refused('PARAM_SCHEMA_KEYWORD', `is more than ${MAX_DEPTH} levels deep`, at)
  if (typeof value === 'number' && !Number.isFinite(value)) throw refused('PARAM_SCHEMA_VALUE', 'has a number that is out of range', at)
}

/** True when the value satisfies the supported keywords of the schema. */
export function satisfies(value: unknown, schema: JsonObject): boolean {
  return (
    ofType(value, schema.type) &&
    (!Array.isArray(schema.enum) || schema.enum.some((one) => same(one, value))) &&
    (!Object.hasOwn(schema, 'const') || same(schema.const, value)) &&
    (typeof value !== 'number' || numberFits(value, schema)) &&
    (typeof value !== 'string' || textFits(value, schema)) &&
    (!isObject(value) || !Array.isArray(schema.required) || schema.required.every((name) => Object.hasOwn(value, String(name))))
  )
}

function ofType(value: unknown, type: unknown): boolean {
  const types = Array.isArray(type) ? type : type === undefined ? [] : [type]
  if (types.length === 0) return true
  return types.some((name) => {
    if (name === 'integer') return Number.isInteger(value)
    if (name === 'array') return Array.isArray(value)
    if (name === 'null') return value === null
    return name === 'object' ? isObject(value) : typeof value === name
  })
}

function same(one: unknown, other: unknown): boolean {
  return one === other || (typeof one === 'object' && JSON.stringify(one) === JSON.stringify(other))
}

function numberFits(value: number, { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: JsonObject): boolean {
  return (
    !(typeof minimum === 'number' && value < minimum) &&
    !(typeof maximum === 'number' && value > maximum) &&
    !(typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) &&
    !(typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum) &&
    !(typeof multipleOf === 'number' && multipleOf > 0 && !Number.isInteger(value / multipleOf))
  )
}

function textFits(value: string, { minLength, maxLength, pattern }: JsonObject): boolean {
  const length = [...value].length
  if (typeof minLength === 'number' && length < minLength) return false
  if (typeof maxLength === 'number' && length > maxLength) return false
  return typeof pattern !== 'string' || !isLinear(pattern) || new RegExp(pattern, 'u').test(value)
}

/** True without groups, alternatives and back-references, and with at most one repetition or option after `^`: matching is then linear. */
function isLinear(pattern: string): boolean {
  if (pattern.length > 200 || /[(|]|\\[1-9kpPuxc]/.test(pattern)) return false
  const repetitions = pattern.replace(/\\.|\[(?:\\.|[^\]\\])*\]/g, 'x').match(/[*+?]|\{\d*,\d*\}/g) ?? []
  if (repetitions.length > 1 || (repetitions.length === 1 && !pattern.startsWith('^'))) return false
  try {
    new RegExp(pattern, 'u')
    return true
  } catch {
    return false
  }
}

function refused(code: ErrorCode, why: string, at: string): SelectionError {
  return new SelectionError(code, `the schema of a signing parameter ${why}`, { pointer: at })
}
