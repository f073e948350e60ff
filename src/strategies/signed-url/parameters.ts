/** Values for the parameters of a signing API. They come from the target and from the user's entry, never from the catalog. */
import type { Credential } from '../../auth/credential.ts'
import type { Secret } from '../../auth/secret.ts'
import type { Resource, Warning } from '../../auth/strategy.ts'
import { SelectionError } from '../../errors.ts'
import { isForbiddenHeader } from '../../http/field-name.ts'
import { isObject, pointer } from '../../stac/json.ts'
import { bucketAndKey } from '../../stac/object-address.ts'
import type { SignedUrlFlow, SigningParameter } from '../../stac/scheme.ts'
import { storagesOf } from '../../stac/storage.ts'
import { reveal } from '../reveal.ts'
import { inspectSchema, satisfies } from './parameter-schema.ts'

type Values = ReadonlyMap<string, Secret>

/** A parameter with its value: `in` is where it goes. */
export interface BoundParameter {
  readonly name: string
  readonly in: SigningParameter['in']
  readonly value: string | number | boolean
}

/**
 * Checks all parameters before anything is chosen: first who may set them, then their schemas, then whether each
 * required one has a value.
 *
 * Errors: `PARAM_FORBIDDEN`, `PARAM_SCHEMA_REF`, `PARAM_SCHEMA_KEYWORD`, `PARAM_SCHEMA_VALUE`, `PARAM_UNBOUND`.
 */
export function checkParameters(flow: SignedUrlFlow, at: string, given: Values, resource: Resource): readonly Warning[] {
  const warnings: Warning[] = []
  for (const [name, parameter] of parametersOf(flow)) checkName(name, parameter, pointer(at, 'parameters', name), given)
  for (const [name, { schema }] of parametersOf(flow)) {
    if (!isObject(schema)) continue
    const place = pointer(at, 'parameters', name, 'schema')
    warnings.push(...inspectSchema(schema, place))
    const value = conventional(name, resource)
    if (value !== undefined && !given.has(name) && !satisfies(value, schema)) {
      throw new SelectionError('PARAM_SCHEMA_VALUE', `the value of "${name}" does not satisfy the catalog's schema`, { pointer: place })
    }
  }
  for (const [name, { required }] of parametersOf(flow)) {
    if (!required || given.has(name) || conventional(name, resource) !== undefined) continue
    throw new SelectionError('PARAM_UNBOUND', `the signing API needs a value for "${name}"`, {
      pointer: pointer(at, 'parameters', name),
      hint: `add it to the entry: "parameters": { ${JSON.stringify(name)}: "…" }`,
    })
  }
  return warnings
}

/** The parameters that have a value, in document order. */
export async function bindParameters(
  flow: SignedUrlFlow,
  given: Values,
  resource: Resource,
  credential: Credential,
): Promise<readonly BoundParameter[]> {
  const bound: BoundParameter[] = []
  for (const [name, { in: place, schema }] of parametersOf(flow)) {
    const secret = given.get(name)
    const value = secret ? typed(await reveal(secret, `parameters.${name}`, credential), schema?.type) : conventional(name, resource)
    if (value !== undefined) bound.push({ name, in: place, value })
  }
  return bound
}

/** What a signing call is told that is not the entry's: two calls that differ in it are two signatures. */
export function conventionalValues(flow: SignedUrlFlow, resource: Resource): readonly unknown[] {
  return parametersOf(flow).map(([name, { in: place, schema }]) => [
    name,
    textOf(place),
    textOf(schema?.type),
    conventional(name, resource),
  ])
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function parametersOf({ parameters }: SignedUrlFlow): [string, SigningParameter][] {
  return isObject(parameters) ? Object.entries(parameters).filter(([, parameter]) => isObject(parameter)) : []
}

function checkName(name: string, parameter: SigningParameter, at: string, given: Values): void {
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

/** `href` and `url` are the address, `bucket` and `key` the object it names. */
function conventional(name: string, { url, target }: Resource): string | undefined {
  if (name === 'href' || name === 'url') return url
  if (name !== 'bucket' && name !== 'key') return undefined
  return bucketAndKey(url, target ? storagesOf(target) : [], ' ')?.[name]
}

/** Numbers and booleans of entries are written as text; the schema says what the API expects. */
function typed(text: string, type: unknown): string | number | boolean {
  if ((type === 'integer' || type === 'number') && /^-?\d+(?:\.\d+)?$/.test(text)) return Number(text)
  if (type === 'boolean' && /^(?:true|false)$/.test(text)) return text === 'true'
  return text
}
