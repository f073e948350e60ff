/** Values for the parameters of a signing API. They come from the user's code, the user's entry and the target, never from the catalog. */
import type { Secret } from '../../auth/secret.ts'
import type { Resource, Warning } from '../../auth/strategy.ts'
import { ConfigurationError, CredentialError, SelectionError } from '../../errors.ts'
import { isForbiddenHeader } from '../../http/field-name.ts'
import { isObject, pointer } from '../../stac/json.ts'
import type { SignedUrlFlow, SigningParameter } from '../../stac/scheme.ts'
import { reveal, unfit } from '../reveal.ts'
import type { SignedUrlCredential } from './credential.ts'
import { inspectSchema, satisfies } from './parameter-schema.ts'
import { filled, isStatedOnly, PLACEHOLDERS, placeholdersIn, urlValue } from './url-values.ts'

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
    if (!parameter) checkValue(name, definition, valueAtHand(name, definition, credential, resource), place)
  }
  for (const [name, { required }] of parametersOf(flow)) {
    if (parameter || hasValue(name, credential, resource) || !(required || given.has(name))) continue
    throw unbound(name, { credential, resource, at: pointer(at, 'parameters', name) })
  }
  return warnings
}

/** The parameters of a call that no catalog describes: those of the entry, and the URL itself unless one of them is made of it. */
export function ownParameters({ method, parameters = NONE }: SignedUrlCredential): Readonly<Record<string, SigningParameter>> {
  const place = method === 'GET' ? 'query' : 'body'
  const isMade = [...parameters.values()].some((secret) => secret.isText && placeholdersIn(textIn(secret)).length > 0)
  const names = isMade || parameters.has('href') ? [...parameters.keys()] : ['href', ...parameters.keys()]
  return Object.fromEntries(names.map((name) => [name, { in: IN_HEADER.test(name) ? 'header' : place, required: true }]))
}

/** Names that are headers wherever APIs have them. */
const IN_HEADER = /^(?:authorization|x-.+)$/i

/** `CONFIG_INVALID` for a placeholder that has no meaning. */
export function templateProblem({ parameters = NONE }: SignedUrlCredential): ConfigurationError | undefined {
  for (const [name, secret] of parameters) {
    const unknown = secret.isText ? placeholdersIn(textIn(secret)).find((each) => !PLACEHOLDERS.includes(each)) : undefined
    if (unknown === undefined) continue
    const known = PLACEHOLDERS.map((each) => `{${each}}`).join(' ')
    return new ConfigurationError('CONFIG_INVALID', `"{${unknown}}" is not a placeholder`, {
      pointer: pointer('/parameters', name),
      hint: `write one of ${known}`,
    })
  }
  return undefined
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

/** What a signing call is told that is not the entry's: two calls that differ in it are two signatures. Without the resource: what of it they share. */
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
      ...(isHeader && { hint: `if you want it sent, list "${name}" in the "parameters" of your entry` }),
    },
  )
}

/** Query and body names may hold any character; only the forbidden words themselves are refused. */
function isForbiddenHeaderToken(name: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && isForbiddenHeader(name)
}

/** What is known without asking a source. */
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

/** What the entry says; only a text of its own has placeholders: the value of a source stays as it is. */
async function givenText(name: string, secret: Secret, credential: SignedUrlCredential, resource: Resource): Promise<string | undefined> {
  const text = await reveal(secret, `parameters.${name}`, credential)
  return secret.isText && placeholdersIn(text).length > 0 ? filled(text, credential, resource) : text
}

function textIn(secret: Secret): string {
  const text = secret.reveal()
  return typeof text === 'string' ? text : ''
}

/** A key may hold any character, a header may not. */
function checkHeader(name: string, value: ParameterValue, { id }: SignedUrlCredential): void {
  if (typeof value !== 'string' || /^[\x20-\x7e]*$/.test(value)) return
  throw new SelectionError('PARAM_SCHEMA_VALUE', `the value of "${name}" has characters that no header may have. Nothing was sent`, {
    credential: id,
  })
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
    ? `if bucket and key are to be taken from URLs of that host, add "endpoint": "${origin}" to the entry: what the document says of it does not count`
    : secret
      ? `the host of ${origin} is not known to have ${names.map((each) => `{${each}}`).join(' and ')}: write the value, or "endpoint": "${origin}" in the entry`
      : `add it to the entry: "parameters": { ${JSON.stringify(name)}: "…" }`
  return new SelectionError('PARAM_UNBOUND', `the signing API needs a value for "${name}"`, { ...(at && { pointer: at }), hint })
}

function fitting(value: unknown, name: string, id: string): ParameterValue {
  const isText = typeof value === 'string'
  if (!isText && typeof value !== 'boolean' && !Number.isFinite(value))
    throw unfit(`parameter "${name}"`, id, 'is no text, number or boolean')
  if (isText && /[\r\n\0]/.test(value)) throw unfit(`parameter "${name}"`, id, 'has a line break in it')
  return value as ParameterValue
}

/** Numbers and booleans of entries are written as text; the schema says what the API expects. */
function typed(text: string | undefined, { schema }: SigningParameter): ParameterValue | undefined {
  if (text === undefined) return undefined
  const type = schema?.type
  if ((type === 'integer' || type === 'number') && /^-?\d+(?:\.\d+)?$/.test(text)) return Number(text)
  if (type === 'boolean' && /^(?:true|false)$/.test(text)) return text === 'true'
  return text
}
