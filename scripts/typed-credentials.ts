/** The types of the credentials that a program writes, from schemas/credentials.json: a misspelt or missing field does not compile. */
import { readFileSync } from 'node:fs'

interface Schema {
  readonly description?: string
  readonly type?: string
  readonly enum?: readonly string[]
  readonly const?: string
  readonly $ref?: string
  readonly not?: object
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly pattern?: string
  readonly properties?: { readonly [name: string]: Schema | true }
  readonly additionalProperties?: Schema | false
}

interface Branch {
  readonly if: Schema
  readonly then: Schema
}

/** Types that have a use by themselves: those of the helpers. */
const EXPORTED = /^(?:ApiKey|S3|SignedUrl|OAuth2\w+|OpenIdConnect\w+)Credential$/

/** Fields of `CredentialBase`. */
const COMMON = new Set(['id', 'use', 'provider'])

/** Functions are for code only, so the schema of the file says nothing of them. */
const FUNCTIONS: { readonly [name: string]: string } = {
  dpopKeyPair: '() => unknown',
  issuer: 'TokenIssuer',
  parameter: 'ParameterFunction',
}

interface Shape {
  readonly name: string
  readonly type: string
  /** Its fields, each with its comment. */
  readonly fields: readonly string[]
}

/** The text of a module with a type for each form of a credential. */
export function typedCredentials(): string {
  const file = new URL('../schemas/credentials.json', import.meta.url)
  const branches = JSON.parse(readFileSync(file, 'utf8')).definitions.entry.allOf as readonly Branch[]
  const shapes: Shape[] = []
  for (const branch of branches) shapes.push(shape(branch, shapes))
  const types = [...new Set(shapes.map(({ type }) => type))]
  return `/** The credentials that a program writes, one type for each form. */
import type { TokenIssuer } from '../strategies/http/private-token.ts'
import type { ParameterFunction } from '../strategies/signed-url/parameters.ts'
import type { CredentialBase, SecretValue, UncheckedCredential, UrlPatterns } from './credential.ts'

${types.map((type) => declarations(shapes.filter((one) => one.type === type))).join('\n')}
/** A credential as a program writes it. For one that is not known when the program is compiled there is \`uncheckedCredential\`. */
export type CredentialInput =
${[...shapes.map(({ name }) => name), 'UncheckedCredential'].map((name) => `  | ${name}`).join('\n')}
`
}

/** What all shapes of a type have stands in one place. */
function declarations(ofType: readonly Shape[]): string {
  const common = ofType[0]?.fields.filter((field) => ofType.every(({ fields }) => fields.includes(field))) ?? []
  if (ofType.length === 1) return ofType.map(({ name, fields }) => declaration(named(name), 'CredentialBase', fields)).join('')
  const base = `${pascal(ofType[0]?.type ?? '')}Fields`
  const each = ofType.map(({ name, fields }) => {
    const own = fields.filter((field) => !common.includes(field))
    return declaration(named(name), base, own)
  })
  return [declaration(`type ${base}`, 'CredentialBase', common), ...each].join('\n')
}

function named(name: string): string {
  return `${EXPORTED.test(name) ? 'export ' : ''}type ${name}`
}

function declaration(head: string, base: string, fields: readonly string[]): string {
  return `${head} = ${base} & {\n${fields.join('\n')}\n}\n`
}

function shape({ if: condition, then }: Branch, earlier: readonly Shape[]): Shape {
  const type = literal(condition, 'type')?.[0] ?? ''
  const chosen: { readonly [member: string]: Schema | true } = Object.assign({}, ...(condition.allOf ?? []).map((part) => part.properties))
  const kind = Object.entries(chosen).find(([member]) => member === 'scheme' || member === 'flow')?.[1]
  const what = typeof kind === 'object' ? (kind.enum?.[0] ?? '') : type === 'http' ? 'other' : ''
  const members = Object.entries(then.properties ?? {}).filter(([member]) => !COMMON.has(member))
  const fields = members.map(([member, schema]) => {
    if (member === 'type') return `  readonly type: '${type}'`
    const choice = chosen[member]
    const told = schema === true ? {} : schema
    const isRequired = [then, ...(condition.allOf ?? [])].some(({ required }) => required?.includes(member))
    const optional = isRequired ? '' : '?'
    const values = typeof choice === 'object' && choice.enum ? choice.enum : undefined
    return `  /** ${told.description} */\n  readonly ${member}${optional}: ${values ? union(values) : typeOf(member, told)}`
  })
  const name = `${pascal(type)}${pascal(what)}`
  const isKnown = earlier.some((other) => other.name === `${name}Credential`)
  const last = then.required?.filter((field) => field !== 'sendTo').at(-1) ?? ''
  return { name: `${name}${isKnown ? pascal(last) : ''}Credential`, type, fields }
}

function literal({ properties }: Schema, name: string): readonly string[] | undefined {
  const schema = properties?.[name]
  return typeof schema === 'object' && schema.const !== undefined ? [schema.const] : undefined
}

function typeOf(name: string, schema: Schema): string {
  if (schema.enum) return union(schema.enum)
  if (schema.$ref || schema.anyOf) return 'SecretValue'
  if (schema.not) return functionOf(name)
  if (schema.type === 'array') return schema.items?.pattern ? 'UrlPatterns' : 'readonly string[]'
  if (schema.type !== 'object') return schema.type ?? 'unknown'
  if (schema.additionalProperties && Object.keys(schema.additionalProperties).length === 0) return '{ readonly [name: string]: unknown }'
  if (schema.additionalProperties) return '{ readonly [name: string]: SecretValue }'
  const members = Object.entries(schema.properties ?? {}).map(([member, part]) => {
    const fixed = typeof part === 'object' ? part.const : undefined
    const optional = schema.required?.includes(member) ? '' : '?'
    return `readonly ${member}${optional}: ${fixed === undefined ? 'string' : `'${fixed}'`}`
  })
  return `{ ${members.join('; ')} }`
}

function functionOf(name: string): string {
  const type = FUNCTIONS[name]
  if (type === undefined) throw new Error(`say in scripts/typed-credentials.ts which function "${name}" is`)
  return type
}

function union(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(' | ')
}

function pascal(words: string): string {
  return words.replace(/^oauth/, 'oAuth').replace(/(?:^|-)([a-z\d])/gi, (_all, first: string) => first.toUpperCase())
}
