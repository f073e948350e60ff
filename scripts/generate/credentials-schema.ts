/**
 * Writes schemas/credentials.json, the JSON Schema of the credential file, from the entry forms of the strategies: an
 * editor then knows what the reader knows.
 */
import { defaultStrategies } from 'stac-auth'
import type { CredentialFields, Field } from 'stac-auth/strategy'
import { loadStrategies } from '../../dist/auth/strategy.js'
import type { Files } from './files.ts'

const strategies = await loadStrategies(defaultStrategies)

type Schema = { readonly [keyword: string]: unknown }

const text = { type: 'string', minLength: 1 }
const patterns = { type: 'array', items: { type: 'string', pattern: '^(?:https|http|s3|gs)://' } }
const secret = { $ref: '#/definitions/secret' }

const KINDS: { readonly [kind in Field['kind']]: Schema } = {
  text,
  secret,
  'text-or-secret': { anyOf: [text, secret] },
  url: { type: 'string', format: 'uri' },
  issuer: { type: 'string', format: 'uri' },
  boolean: { type: 'boolean' },
  number: { type: 'number', exclusiveMinimum: 0 },
  texts: { type: 'array', items: { type: 'string' } },
  patterns,
  'signed-url-patterns': patterns,
  id: text,
  parameters: { type: 'object', additionalProperties: { anyOf: [text, secret] } },
  members: { type: 'object', additionalProperties: {} },
  places: { type: 'object', additionalProperties: text },
  // Code only.
  function: { not: {} },
  placement: { type: 'object', required: ['in', 'name'], properties: { in: { const: 'query' }, name: text }, additionalProperties: false },
}

function property({ kind, label, values }: Field): Schema {
  if (kind === 'places' && values)
    return {
      description: label,
      type: 'object',
      properties: Object.fromEntries(values.map((name) => [name, text])),
      additionalProperties: false,
    }
  return { description: label, ...KINDS[kind], ...(values && { enum: values }) }
}

/** One branch: entries of that type that this form is for, and no earlier one. */
function branch(type: string, form: CredentialFields, earlier: readonly CredentialFields[]): Schema {
  const isFor = ({ when = {} }: CredentialFields) => {
    const choices = Object.entries(when).map(([name, values]) => ({ name, given: values.filter((value) => value !== undefined), values }))
    const needed = choices.filter(({ values }) => !values.includes(undefined))
    const absent = choices.filter(({ given }) => given.length === 0)
    return {
      properties: Object.fromEntries(choices.flatMap(({ name, given }) => (given.length ? [[name, { enum: given }]] : []))),
      required: needed.map(({ name }) => name),
      ...(absent.length && { not: { anyOf: absent.map(({ name }) => ({ required: [name] })) } }),
    }
  }
  const { sendTo = { kind: 'patterns' as const, label: 'URL patterns to which the credential may be sent', required: true }, ...fields } =
    form.fields
  const properties = { id: true, type: true, use: true, provider: true, sendTo: property(sendTo), ...map(fields, property) }
  const required = Object.entries({ ...fields, sendTo }).flatMap(([name, field]) => (field.required ? [name] : []))
  return {
    if: {
      properties: { type: { const: type } },
      required: ['type'],
      ...(form.when && { allOf: [isFor(form)] }),
      ...(earlier.length && { not: { anyOf: earlier.map(isFor) } }),
    },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties, required, additionalProperties: false },
  }
}

/** True when an entry could fit both: no field must have a value here that it cannot have there. */
function overlap({ when: one = {} }: CredentialFields, { when: other = {} }: CredentialFields): boolean {
  return Object.entries(one).every(([name, values]) => !other[name] || values.some((value) => other[name]?.includes(value)))
}

function map<T, U>(object: { readonly [name: string]: T }, change: (value: T) => U): { [name: string]: U } {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]))
}

const schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Credential file of stac-auth',
  description: 'Says which credentials there are, where their secrets are kept and where each may be sent. It holds no secrets.',
  type: 'object',
  required: ['version', 'credentials'],
  additionalProperties: false,
  properties: {
    $schema: { type: 'string' },
    version: { const: 1 },
    preferred: { description: 'Ids in the order in which alternatives are preferred', type: 'array', items: text },
    credentials: { type: 'array', items: { $ref: '#/definitions/entry' } },
    tokens: {
      description: 'A token store in Redis, shared by several machines',
      type: 'object',
      required: ['redis', 'key'],
      additionalProperties: false,
      properties: {
        redis: { description: 'redis://host[:port][/db], or rediss: for TLS; without a password', ...text },
        username: text,
        password: { $ref: '#/definitions/secret' },
        key: {
          description: '32 bytes in base64. Of several, the first one encrypts; all of them decrypt',
          anyOf: [{ $ref: '#/definitions/secret' }, { type: 'array', items: { $ref: '#/definitions/secret' }, minItems: 1 }],
        },
      },
    },
  },
  definitions: {
    entry: {
      type: 'object',
      required: ['id', 'type'],
      properties: {
        id: { description: 'Label for messages', type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
        type: { enum: strategies.map(({ type }) => type) },
        use: { description: 'by-address: targets without auth:refs whose URL sendTo covers get it, too', const: 'by-address' },
        provider: {
          description: 'Id of the provider that it was made from; it has no effect on where anything is sent',
          type: 'string',
          pattern: '^[a-z0-9-]{1,64}$',
        },
      },
      allOf: strategies.flatMap(({ type, forms }) =>
        forms.map((form, index) =>
          branch(
            type,
            form,
            forms.slice(0, index).filter((earlier) => overlap(earlier, form)),
          ),
        ),
      ),
    },
    secret: {
      description: 'Where a secret is kept: exactly one of these',
      type: 'object',
      minProperties: 1,
      maxProperties: 1,
      additionalProperties: false,
      properties: {
        env: { description: 'Environment variable', ...text },
        file: { description: 'File; one trailing line break is left out', ...text },
        command: { description: 'Program and arguments, run without a shell', type: 'array', items: { type: 'string' }, minItems: 1 },
        keyring: { description: 'Account in the keyring of the operating system, service stac-auth', ...text },
        netrc: {
          description: 'Machine in ~/.netrc, or in the file that NETRC names; a username gets its login, all else its password',
          ...text,
        },
        prompt: { description: 'Asked for at the terminal', ...text },
      },
    },
  },
}

export const files: Files = { 'schemas/credentials.json': `${JSON.stringify(schema, null, 2)}\n` }
