/** Reads one field of a credential entry, or says what is wrong with it. */
import { platform } from '#platform'
import { ConfigurationError } from '../errors.ts'
import { isLoopbackHost } from '../http/public-address.ts'
import { isObject } from '../stac/json.ts'
import type { Field, FieldKind, SecretSource } from './credential.ts'
import { invalid } from './invalid.ts'
import { parseGrant } from './parse-grant.ts'
import { Secret, type SecretInput } from './secret.ts'

/** Where entries come from: in a file a secret must be a source, in code it may be the text itself. */
export type Origin = 'file' | 'code'

const SOURCES = ['env', 'file', 'command', 'keyring', 'prompt'] as const

/** The field's value as strategies use it: `Secret`, `Grant[]`, canonical URL text, or what was written. */
export function readField(value: unknown, field: Field, at: string, from: Origin): unknown {
  return READERS[field.kind](value, field, at, from)
}

const READERS: { readonly [kind in FieldKind]: (value: unknown, field: Field, at: string, from: Origin) => unknown } = {
  text: (value, { values }, at) => {
    if (typeof value !== 'string' || value === '') throw invalid(at, 'must be a text')
    if (values && !values.includes(value)) throw invalid(at, `must be one of ${values.join(', ')}`)
    return value
  },
  texts: (value, _field, at) => {
    if (!Array.isArray(value) || !value.every((entry) => typeof entry === 'string')) throw invalid(at, 'must be a list of texts')
    return value
  },
  boolean: (value, _field, at) => {
    if (typeof value !== 'boolean') throw invalid(at, 'must be true or false')
    return value
  },
  number: (value, _field, at) => {
    if (typeof value !== 'number' || !(value > 0 && value < Number.POSITIVE_INFINITY)) throw invalid(at, 'must be a number above 0')
    return value
  },
  id: (value, _field, at) => {
    if (typeof value !== 'string') throw invalid(at, 'must be the id of another entry')
    return value
  },
  url: (value, _field, at) => readUrl(value, at),
  issuer: (value, _field, at) => readIssuer(value, at),
  patterns: (value, _field, at) => readPatterns(value, at, false),
  'signed-url-patterns': (value, _field, at) => readPatterns(value, at, true),
  secret: (value, { oneTime }, at, from) => readSecret(value, at, from, oneTime),
  'text-or-secret': (value, _field, at, from) => (typeof value === 'string' ? new Secret(value) : readSecret(value, at, from)),
  parameters: (value, _field, at, from) => readParameters(value, at, from),
  function: (value, _field, at, from) => {
    if (from === 'code' && typeof value === 'function') return value
    throw invalid(at, 'must be a function, which only code can hold')
  },
  placement: (value, _field, at) => {
    if (!isObject(value) || value.in !== 'query' || typeof value.name !== 'string') {
      throw invalid(at, 'must be { "in": "query", "name": "…" }')
    }
    return value
  },
}

/** A secret from its source, or in code from a text or a function. Errors: `CONFIG_INVALID`. */
function readSecret(value: unknown, at: string, from: Origin, oneTime = false): Secret {
  const secret = Secret.from(value)
  if (secret) return secret
  if (from === 'code' && (typeof value === 'string' || typeof value === 'function')) return new Secret(value as SecretInput)
  if (typeof value === 'string') {
    throw invalid(
      at,
      'holds a secret; this file only says where secrets are',
      'write { "env": "NAME" }, { "file": "~/path" } or { "command": ["program"] }',
    )
  }
  if (!isObject(value) || !isSource(value)) throw invalid(at, `must be an object with one of the keys ${SOURCES.join(', ')}`)
  // A source remembers what it gave, which a one-time code must not be.
  const read = oneTime ? () => platform.secretSource(value)() : platform.secretSource(value)
  return new Secret(read, 'prompt' in value)
}

/** Patterns of addresses. Errors: `CONFIG_INVALID`. */
export function readPatterns(value: unknown, at: string, sharedHosts: boolean) {
  const list = typeof value === 'string' ? [value] : value
  if (!Array.isArray(list)) throw invalid(at, 'must be a list of address patterns')
  return list.map((pattern, index) => {
    if (typeof pattern !== 'string') throw invalid(`${at}/${index}`, 'must be an address pattern')
    try {
      return parseGrant(pattern, { sharedHosts })
    } catch (error) {
      throw new ConfigurationError('CONFIG_INVALID', (error as Error).message, { pointer: `${at}/${index}`, actual: pattern })
    }
  })
}

function isSource(value: { readonly [key: string]: unknown }): value is SecretSource {
  const [key, ...more] = Object.keys(value)
  if (key === undefined || more.length) return false
  const content = value[key]
  if (key === 'command') return Array.isArray(content) && content.length > 0 && content.every((part) => typeof part === 'string')
  return (SOURCES as readonly string[]).includes(key) && typeof content === 'string' && content !== ''
}

/** The user wrote this address, so loopback is what they meant; http: is for loopback only. */
function readUrl(value: unknown, at: string): string {
  if (typeof value !== 'string' || !URL.canParse(value)) throw invalid(at, 'must be an absolute URL')
  const url = new URL(value)
  const secure = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname))
  if (!secure) throw invalid(at, 'must be an https URL')
  if (url.username || url.password) throw invalid(at, 'must not have a user name or password in it')
  url.hash = ''
  return url.href
}

/** Tokens name their issuer letter by letter (OpenID Connect Core 1.0 §3.1.3.7), so a slash more or less is another one. */
function readIssuer(value: unknown, at: string): string {
  const { search } = new URL(readUrl(value, at))
  if (search !== '' || String(value).includes('#')) throw invalid(at, 'must not have a query or a fragment in it')
  return String(value)
}

function readParameters(value: unknown, at: string, from: Origin): ReadonlyMap<string, Secret> {
  if (!isObject(value)) throw invalid(at, 'must be an object of names and values')
  return new Map(
    Object.entries(value).map(([name, content]) => [
      name,
      typeof content === 'string' ? new Secret(content) : readSecret(content, `${at}/${name}`, from),
    ]),
  )
}
