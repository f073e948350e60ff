/** Values for the parameters of a signing API, from the user's code, the user's credential and the target, never from the catalog. */
import type { Secret } from '../../auth/credential.ts'
import type { Resource, Warning } from '../../auth/strategy.ts'
import { ConfigurationError, CredentialError, type ErrorCode, SelectionError } from '../../errors.ts'
import { isForbiddenHeader } from '../../http/headers.ts'
import { isObject, type JsonObject, pointer } from '../../stac/document.ts'
import { bare, objectAddressOf, serviceOf } from '../../stac/object-address.ts'
import type { SignedUrlFlow, SigningParameter } from '../../stac/scheme.ts'
import { storagesOf } from '../../stac/storage.ts'
import { reveal, unfit } from '../reveal.ts'
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
export function checkParameters(flow: SignedUrlFlow, at: string, credential: SignedUrlCredential, resource: Resource): readonly Warning[] {
  const { parameters: given = NONE, parameter } = credential
  const warnings: Warning[] = []
  for (const [name, definition] of parametersOf(flow)) checkName(name, definition, pointer(at, 'parameters', name), given)
  for (const [name, definition] of parametersOf(flow)) {
    if (!isObject(definition.schema)) continue
    const place = pointer(at, 'parameters', name, 'schema')
    warnings.push(...inspectSchema(definition.schema, place))
    if (!parameter) checkValue(name, definition, valueAtHand(name, definition, credential, resource), place)
  }
  for (const [name, { required }] of parametersOf(flow)) {
    if (parameter || hasValue(name, credential, resource) || !(required || given.has(name))) continue
    throw unbound(name, { credential, resource, at: pointer(at, 'parameters', name) })
  }
  return warnings
}

/** Returns the parameters of a call that no catalog describes: those of the credential, and the URL unless one of them contains it. */
export function ownParameters({ method, parameters = NONE }: SignedUrlCredential): Readonly<Record<string, SigningParameter>> {
  const place = method === 'GET' ? 'query' : 'body'
  const isMade = [...parameters.values()].some((secret) => secret.isText && placeholdersIn(textIn(secret)).length > 0)
  const names = isMade || parameters.has('href') ? [...parameters.keys()] : ['href', ...parameters.keys()]
  return Object.fromEntries(names.map((name) => [name, { in: IN_HEADER.test(name) ? 'header' : place, required: true }]))
}

/** Names that are headers by convention. */
const IN_HEADER = /^(?:authorization|x-.+)$/i

/** Returns `CONFIG_INVALID` for an unsupported placeholder. */
export function templateProblem({ parameters = NONE }: SignedUrlCredential): ConfigurationError | undefined {
  for (const [name, secret] of parameters) {
    const unknown = secret.isText ? placeholdersIn(textIn(secret)).find((each) => !PLACEHOLDERS.includes(each)) : undefined
    if (unknown === undefined) continue
    const known = PLACEHOLDERS.map((each) => `{${each}}`).join(' ')
    return new ConfigurationError('CONFIG_INVALID', `unsupported placeholder "{${unknown}}"`, {
      pointer: pointer('/parameters', name),
      hint: `use one of ${known}`,
    })
  }
  return undefined
}

/** Calls the user's function for each parameter. Errors: `CREDENTIAL_SOURCE` when it fails, `CREDENTIAL_VALUE_INVALID`. */
export async function askedParameters(flow: SignedUrlFlow, credential: SignedUrlCredential, resource: Resource): Promise<Answers> {
  const { parameter, id } = credential
  const answers = new Map<string, ParameterValue>()
  if (!parameter) return answers
  for (const [name, definition] of parametersOf(flow)) {
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
  resource: Resource,
): Promise<readonly BoundParameter[]> {
  const bound: BoundParameter[] = []
  for (const [name, definition] of parametersOf(flow)) {
    const secret = credential.parameters?.get(name)
    const value =
      answers.get(name) ??
      (secret ? typed(await givenText(name, secret, credential, resource), definition) : urlValue(name, credential, resource))
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
  answers: Answers,
  wanted?: { readonly credential: SignedUrlCredential; readonly resource: Resource },
): readonly unknown[] {
  return parametersOf(flow).map(([name, { in: place, schema }]) => [
    name,
    textOf(place),
    textOf(schema?.type),
    answers.get(name) ?? (wanted && urlValue(name, wanted.credential, wanted.resource)),
  ])
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function parametersOf({ parameters }: SignedUrlFlow): [string, SigningParameter][] {
  return isObject(parameters) ? Object.entries(parameters).filter(([, parameter]) => isObject(parameter)) : []
}

function checkName(name: string, parameter: SigningParameter, at: string, given: ReadonlyMap<string, Secret>): void {
  const isHeader = parameter.in === 'header'
  if (isHeader && given.has(name) && !isForbiddenHeader(name)) return
  if (!isHeader && (given.has(name) || !isForbiddenHeaderToken(name))) return
  throw new SelectionError(
    'PARAM_FORBIDDEN',
    `the catalog may not choose the ${isHeader ? 'header' : 'parameter'} "${name}" of a signing call`,
    {
      pointer: isHeader ? `${at}/in` : at,
      ...(isHeader && { hint: `to send it, list "${name}" in the "parameters" of your credential` }),
    },
  )
}

/** Query and body names may contain any character; only the forbidden words themselves are refused. */
function isForbiddenHeaderToken(name: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && isForbiddenHeader(name)
}

/** Returns the value that is known without reading a source. */
function valueAtHand(name: string, definition: SigningParameter, credential: SignedUrlCredential, resource: Resource) {
  const secret = credential.parameters?.get(name)
  if (!secret) return urlValue(name, credential, resource)
  const text = secret.isText ? filled(textIn(secret), credential, resource) : undefined
  return text === undefined ? undefined : typed(text, definition)
}

function hasValue(name: string, credential: SignedUrlCredential, resource: Resource): boolean {
  const secret = credential.parameters?.get(name)
  if (!secret) return urlValue(name, credential, resource) !== undefined
  return !secret.isText || filled(textIn(secret), credential, resource) !== undefined
}

/** Returns the text of the credential with placeholders replaced; the value of a source is used unchanged. */
async function givenText(name: string, secret: Secret, credential: SignedUrlCredential, resource: Resource): Promise<string | undefined> {
  const text = await reveal(secret, `parameters.${name}`, credential)
  return secret.isText && placeholdersIn(text).length > 0 ? filled(text, credential, resource) : text
}

function textIn(secret: Secret): string {
  const text = secret.reveal()
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
  readonly resource: Resource
  readonly at?: string
}

function unbound(name: string, { credential, resource, at }: Unbound): SelectionError {
  const secret = credential.parameters?.get(name)
  const names = secret?.isText ? placeholdersIn(textIn(secret)) : [name]
  const { origin } = new URL(resource.url)
  const hint = names.some((each) => isStatedOnly(each, resource))
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
    for (const name of members) stack.push({ name, value: (value as JsonObject)[name], at: pointer(step.at, name), depth: depth + 1 })
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

/** The decoded parts of a URL; `account` only for Azure. */
interface Parts {
  readonly account?: string
  readonly bucket: string
  readonly key: string
}

const PARTS: Readonly<Record<string, keyof Parts>> = {
  account: 'account',
  bucket: 'bucket',
  container: 'bucket',
  key: 'key',
  blob: 'key',
}

/** The placeholders of `parameters`. */
const PLACEHOLDERS: readonly string[] = ['url', 'href', ...Object.keys(PARTS)]

const PLACEHOLDER = /\{([A-Za-z_]+)\}/g

/** Returns the placeholders in a text of `parameters`. */
function placeholdersIn(text: string): readonly string[] {
  return Array.from(text.matchAll(PLACEHOLDER), ([, name = '']) => name)
}

/** Returns the text with its placeholders replaced; undefined when the URL has no value for one. Errors: those of {@link urlValue}. */
function filled(text: string, credential: SignedUrlCredential, resource: Resource): string | undefined {
  const values = new Map(placeholdersIn(text).map((name) => [name, urlValue(name, credential, resource)]))
  if ([...values.values()].includes(undefined)) return undefined
  return text.replace(PLACEHOLDER, (_, name: string) => values.get(name) ?? '')
}

/**
 * Returns the value of that name, or undefined when the URL has none.
 *
 * Errors: `PARAM_FORBIDDEN` when the document's storage extension names another bucket than the URL.
 */
function urlValue(name: string, { endpoint, virtualHost }: SignedUrlCredential, { url, target }: Resource): string | undefined {
  if (name === 'url' || name === 'href') return url
  const part = Object.hasOwn(PARTS, name) ? PARTS[name] : undefined
  const parts = part && partsOf(url, { endpoint, virtualHost })
  if (!part || !parts) return undefined
  for (const storage of target ? storagesOf(target) : []) {
    const { endpoint: stated } = serviceOf(storage)
    const split = stated === undefined ? undefined : objectAddressOf(url, [serviceOf(storage)])
    // Only for a storage at this URL: an object may have copies elsewhere.
    if (stated === undefined || split?.endpoint !== bare(stated)) continue
    const bucket = storage.bucket ?? split.bucket
    if (split.bucket === parts.bucket && bucket === parts.bucket) continue
    throw new SelectionError(
      'PARAM_FORBIDDEN',
      `the storage extension of the document names the bucket "${bucket}", the URL "${parts.bucket}": the catalog may not choose what is signed`,
      { pointer: `${target?.pointer}/href` },
    )
  }
  return parts[part]
}

/** True when the parts of a URL are known from the document's storage extension alone, which is not trusted. */
function isStatedOnly(name: string, { url, target }: Resource): boolean {
  if (!Object.hasOwn(PARTS, name) || !target) return false
  return storagesOf(target).some((storage) => objectAddressOf(url, [serviceOf(storage)]) !== undefined)
}

/** Google's XML API; paths below `/storage/v1/` belong to another API and do not start with a bucket. */
const GOOGLE = /^(?:(.+)\.)?storage\.googleapis\.com$/

const GOOGLE_JSON = /^\/(?:(?:download|upload)\/)?storage\/v1\//

const AZURE =
  /^([a-z0-9-]+)\.(?:z\d+\.)?(?:(?:blob|dfs)\.core\.(?:windows\.net|usgovcloudapi\.net|chinacloudapi\.cn)|(?:blob|dfs)\.storage\.azure\.net)$/

function partsOf(url: string, service: { readonly endpoint?: string; readonly virtualHost?: boolean }): Parts | undefined {
  const { hostname, pathname, protocol } = new URL(url)
  const own = service.endpoint === undefined ? undefined : objectAddressOf(url, [service])
  if (own && own.endpoint === bare(service.endpoint ?? '')) return decoded(own.bucket, own.path.replaceAll('+', ' '))
  const [first = '', ...rest] = pathname.slice(1).split('/')
  const [isGoogle, bucket] = protocol === 'https:' ? (GOOGLE.exec(hostname) ?? []) : []
  if (isGoogle) {
    if (bucket !== undefined) return decoded(bucket, pathname.slice(1))
    return GOOGLE_JSON.test(pathname) ? undefined : decoded(first, rest.join('/'))
  }
  const [isAzure, account] = protocol === 'https:' ? (AZURE.exec(hostname) ?? []) : []
  // A path of one segment is a blob of the root container (Azure Storage, "Naming and referencing containers").
  if (isAzure) return withAccount(account, rest.length > 0 ? decoded(first, rest.join('/')) : decoded('$root', first))
  const address = objectAddressOf(url)
  // S3 services decode a plus as a space.
  return address && decoded(address.bucket, address.path.replaceAll('+', ' '))
}

function withAccount(account: string | undefined, parts: Parts | undefined): Parts | undefined {
  return parts && account !== undefined ? { ...parts, account } : parts
}

/** Returns undefined for paths that are not UTF-8, and without a bucket. */
function decoded(bucket: string, path: string): Parts | undefined {
  try {
    return bucket === '' ? undefined : { bucket: decodeURIComponent(bucket), key: decodeURIComponent(path) }
  } catch {
    return undefined
  }
}
