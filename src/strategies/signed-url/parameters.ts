/** Values for the parameters of a signing API. They come from the user's code, the user's entry and the target, never from the catalog. */
import type { Secret } from '../../auth/secret.ts'
import type { Resource, Warning } from '../../auth/strategy.ts'
import { CredentialError, SelectionError } from '../../errors.ts'
import { isForbiddenHeader } from '../../http/field-name.ts'
import { isObject, pointer } from '../../stac/json.ts'
import { bucketAndKey } from '../../stac/object-address.ts'
import type { SignedUrlFlow, SigningParameter } from '../../stac/scheme.ts'
import { storagesOf } from '../../stac/storage.ts'
import { reveal, unfit } from '../reveal.ts'
import type { SignedUrlCredential } from './credential.ts'
import { inspectSchema, satisfies } from './parameter-schema.ts'

/** What a parameter can be told. */
export type ParameterValue = string | number | boolean

/**
 * The user's own word on a parameter, asked before everything else; `undefined` leaves it to the entry and the conventions.
 * `definition` is the catalog's, `resource` what is to be signed.
 */
export type ParameterFunction = (
  name: string,
  definition: SigningParameter,
  resource: Resource,
) => ParameterValue | undefined | Promise<ParameterValue | undefined>

/** What the user's function said, by name. */
export type Answers = ReadonlyMap<string, ParameterValue>

/** A parameter with its value: `in` is where it goes. */
export interface BoundParameter {
  readonly name: string
  readonly in: SigningParameter['in']
  readonly value: ParameterValue
}

const NONE: ReadonlyMap<string, Secret> = new Map()

/**
 * Checks all parameters before anything is chosen: first who may set them, then their schemas and the values known so far, then
 * whether each required one has a value; with a function in the entry that is known only when it was asked.
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
    if (!parameter) checkValue(name, definition, valueAtHand(name, definition, given, resource), place)
  }
  for (const [name, { required }] of parametersOf(flow)) {
    if (!required || parameter || given.has(name) || conventional(name, resource) !== undefined) continue
    throw unbound(name, pointer(at, 'parameters', name))
  }
  return warnings
}

/** Asks the user's function about each parameter. Errors: `CREDENTIAL_SOURCE` when it fails, `CREDENTIAL_VALUE_INVALID`. */
export async function askedParameters(flow: SignedUrlFlow, credential: SignedUrlCredential, resource: Resource): Promise<Answers> {
  const { parameter, id } = credential
  const answers = new Map<string, ParameterValue>()
  if (!parameter) return answers
  for (const [name, definition] of parametersOf(flow)) {
    let value: unknown
    try {
      value = await parameter(name, definition, resource)
    } catch {
      // What it throws may hold anything, so it is not attached.
      throw new CredentialError('CREDENTIAL_SOURCE', `parameter of "${id}": its function failed for "${name}"`, { credential: id })
    }
    if (value !== undefined) answers.set(name, fitting(value, name, id))
  }
  return answers
}

/**
 * The parameters that have a value, in document order: the function's, else the entry's, else the conventional one.
 *
 * Errors: `PARAM_UNBOUND`, `PARAM_SCHEMA_VALUE`, those of the entry's sources.
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
      (secret ? typed(await reveal(secret, `parameters.${name}`, credential), definition) : conventional(name, resource))
    if (value === undefined) {
      if (definition.required) throw unbound(name)
      continue
    }
    checkValue(name, definition, value)
    bound.push({ name, in: definition.in, value })
  }
  return bound
}

/** What a signing call is told that is not the entry's: two calls that differ in it are two signatures. Without the resource: what of it they share. */
export function callIdentity(flow: SignedUrlFlow, answers: Answers, resource?: Resource): readonly unknown[] {
  return parametersOf(flow).map(([name, { in: place, schema }]) => [
    name,
    textOf(place),
    textOf(schema?.type),
    answers.get(name) ?? (resource && conventional(name, resource)),
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
      ...(isHeader && { hint: `if you want it sent, list "${name}" in the "parameters" of your entry` }),
    },
  )
}

/** Query and body names may hold any character; only the forbidden words themselves are refused. */
function isForbiddenHeaderToken(name: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && isForbiddenHeader(name)
}

/** What is known without asking a source. */
function valueAtHand(name: string, definition: SigningParameter, given: ReadonlyMap<string, Secret>, resource: Resource) {
  const secret = given.get(name)
  if (!secret) return conventional(name, resource)
  const text = secret.isText ? secret.reveal() : undefined
  return typeof text === 'string' ? typed(text, definition) : undefined
}

function checkValue(name: string, { schema }: SigningParameter, value: ParameterValue | undefined, at?: string): void {
  if (value === undefined || !isObject(schema) || satisfies(value, schema)) return
  throw new SelectionError('PARAM_SCHEMA_VALUE', `the value of "${name}" does not satisfy the catalog's schema`, at ? { pointer: at } : {})
}

function unbound(name: string, at?: string): SelectionError {
  return new SelectionError('PARAM_UNBOUND', `the signing API needs a value for "${name}"`, {
    ...(at && { pointer: at }),
    hint: `add it to the entry: "parameters": { ${JSON.stringify(name)}: "…" }`,
  })
}

function fitting(value: unknown, name: string, id: string): ParameterValue {
  const isText = typeof value === 'string'
  if (!isText && typeof value !== 'boolean' && !Number.isFinite(value))
    throw unfit(`parameter "${name}"`, id, 'is no text, number or boolean')
  if (isText && /[\r\n\0]/.test(value)) throw unfit(`parameter "${name}"`, id, 'has a line break in it')
  return value as ParameterValue
}

/** `href` and `url` are the address, `bucket` and `key` the object it names. */
function conventional(name: string, { url, target }: Resource): string | undefined {
  if (name === 'href' || name === 'url') return url
  if (name !== 'bucket' && name !== 'key') return undefined
  return bucketAndKey(url, target ? storagesOf(target) : [], ' ')?.[name]
}

/** Numbers and booleans of entries are written as text; the schema says what the API expects. */
function typed(text: string, { schema }: SigningParameter): ParameterValue {
  const type = schema?.type
  if ((type === 'integer' || type === 'number') && /^-?\d+(?:\.\d+)?$/.test(text)) return Number(text)
  if (type === 'boolean' && /^(?:true|false)$/.test(text)) return text === 'true'
  return text
}
