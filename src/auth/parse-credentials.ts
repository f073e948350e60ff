/** Reads the user's credentials: checks every field, wraps secrets, parses patterns. */

import { platform } from '#platform'
import { type AuthError, ConfigurationError } from '../errors.ts'
import { isLoopbackHost } from '../http/url.ts'
import { isObject, type JsonObject, pointer } from '../stac/document.ts'
import { canParseUrl } from '../text/can-parse-url.ts'
import { nearMiss } from '../text/suggest.ts'
import {
  type Credential,
  type CredentialFields,
  type CredentialObject,
  type Field,
  type FieldKind,
  flatten,
  inputIdOf,
  invalid,
  missingSendTo,
  Secret,
  type SecretInput,
  type SecretSource,
  type SourceOf,
} from './credential.ts'
import type { Strategy } from './strategy.ts'
import { matchesAny, parseUrlPattern } from './url-pattern.ts'

const BASE_FIELDS = new Set(['id', 'type', 'sendTo', 'use', 'provider'])

const ID = /^[A-Za-z0-9._-]{1,64}$/

const PROVIDER = /^[a-z0-9-]{1,64}$/

/**
 * Returns the credentials, ready for matching. Pointers in errors start at `/credentials`, as in the credential file.
 *
 * Errors: `CONFIG_INVALID` with the pointer of the field.
 */
export function readCredentials(
  source: SourceOf<CredentialObject>,
  strategies: readonly Strategy[],
  from: Origin = 'code',
): readonly Credential[] {
  platform.checkStrategies?.(strategies)
  const { credentials, preferred = [] } = flatten(source)
  const seen = new Set<string>()
  const entries = credentials.map((input, index) => {
    const at = `/credentials/${index}`
    const credential = readEntry(input, at, strategies, from, index)
    if (seen.has(credential.id)) throw invalid(`${at}/id`, `is used twice: "${credential.id}"`)
    seen.add(credential.id)
    const rank = preferred.indexOf(credential.id)
    return rank < 0 ? credential : { ...credential, preference: rank }
  })
  preferred.forEach((id, index) => {
    if (!seen.has(id)) throw invalid(`/preferred/${index}`, `is not the id of a credential: "${id}"`)
  })
  checkChains(entries, strategies)
  return entries
}

function readEntry(input: unknown, at: string, strategies: readonly Strategy[], from: Origin, index: number): Credential {
  if (!isObject(input)) throw invalid(at, 'must be an object')
  const strategy = strategies.find(({ type }) => type === input.type)
  if (!strategy) throw invalid(`${at}/type`, `must be one of ${strategies.map(({ type }) => type).join(', ')}`)
  const form = formOf(strategy, input)
  if (!form) {
    const name = typeof input.id === 'string' ? `"${input.id}"` : `credentials[${index}]`
    const hint = meantForm(strategy, input).trimEnd()
    throw new ConfigurationError('CONFIG_INVALID', `${name} of type ${strategy.type} is not supported: ${whatSelects(strategy)}`, {
      pointer: at,
      ...(hint && { hint }),
    })
  }
  const fields: Record<string, unknown> = {}
  for (const name of Object.keys(input)) {
    if (BASE_FIELDS.has(name)) continue
    const field = Object.hasOwn(form.fields, name) ? form.fields[name] : undefined
    if (!field)
      throw invalid(
        pointer(at, name),
        `is not a field of ${strategy.type} credentials`,
        `${form.when ? '' : meantForm(strategy, input)}${meant(name, form)}fields: ${Object.keys(form.fields).join(', ')}${form.when ? '' : otherForms(strategy)}`,
      )
    if (input[name] !== undefined) fields[name] = readField(input[name], field, pointer(at, name), from)
  }
  for (const [name, field] of Object.entries(form.fields)) {
    if (field.required && fields[name] === undefined)
      throw invalid(pointer(at, name), `is missing (${field.label})`, hintOfUndefined(input, name))
  }
  const base = { id: readId(input, at, from, index), type: strategy.type, preference: Number.POSITIVE_INFINITY }
  const entry = { ...fields, ...base, sendTo: readSendTo(input, at, form), ...readUse(input, at), ...readProvider(input, at) }
  return refined(strategy, entry, at)
}

function refined(strategy: Strategy, credential: Credential, at: string): Credential {
  try {
    return strategy.refine?.(credential) ?? credential
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    throw new ConfigurationError(error.code, error.message, { ...error, pointer: at + (error.pointer ?? '') })
  }
}

/** Returns the first form whose `when` matches the credential. */
function formOf({ forms }: Strategy, input: JsonObject): CredentialFields | undefined {
  return forms.find(({ when = {} }) => Object.entries(when).every(([name, values]) => values.includes(input[name] as string)))
}

/** `sendTo` is a field of every form. */
function meant(name: string, { fields }: CredentialFields): string {
  const near = nearMiss(name, [...Object.keys(fields), 'sendTo'])
  return near === undefined ? '' : `did you mean "${near}"? `
}

/** Suggests the value that selects a form, where one is probably misspelt: `Bearer`, `client_credentials`. */
function meantForm({ forms }: Strategy, input: JsonObject): string {
  const selecting = new Set(forms.flatMap(({ when = {} }) => Object.keys(when)))
  for (const name of selecting) {
    const value = input[name]
    const values = forms.flatMap(({ when }) => when?.[name] ?? []).filter((one) => typeof one === 'string')
    const near = typeof value === 'string' ? nearMiss(value, values) : undefined
    if (near !== undefined) return `did you mean ${name} "${near}"? `
  }
  return ''
}

/** Names the other forms when the present one is the fallback, because the user may have meant another. */
function otherForms(strategy: Strategy): string {
  return strategy.forms.length > 1 ? `; or ${whatSelects(strategy).slice('it needs '.length)}` : ''
}

function whatSelects({ forms }: Strategy): string {
  const choices = forms.flatMap(({ when = {} }) =>
    Object.entries(when).flatMap(([name, values]) => (values.includes(undefined) ? [] : [`${name} ${values.join(' or ')}`])),
  )
  return `it needs ${[...new Set(choices)].join('; ')}`
}

function readId(input: JsonObject, at: string, from: Origin, index: number): string {
  if (input.id === undefined && from === 'code') return `${String(input.type)}-${index + 1}`
  if (typeof input.id !== 'string' || !ID.test(input.id)) throw invalid(`${at}/id`, 'must be 1 to 64 of the characters A-Z a-z 0-9 . _ -')
  return input.id
}

/** In code, the usual reason for a field without a value. */
function hintOfUndefined(input: JsonObject, name: string): string | undefined {
  return name in input
    ? `its value is undefined: where it comes from a variable, set that variable, or name it: { env: 'NAME' }`
    : undefined
}

/** Forms that can do without `sendTo` say so by a field of that name. */
function readSendTo(input: JsonObject, at: string, form: CredentialFields) {
  if (input.sendTo !== undefined) return readPatterns(input.sendTo, `${at}/sendTo`, false)
  if (form.fields.sendTo?.required !== false) throw missingSendTo(at)
  return []
}

function readUse({ use }: JsonObject, at: string): Pick<Credential, 'use'> {
  if (use === undefined) return {}
  if (use !== 'by-address') throw invalid(`${at}/use`, 'must be "by-address" or absent')
  return { use }
}

function readProvider({ provider }: JsonObject, at: string): Pick<Credential, 'provider'> {
  if (provider === undefined) return {}
  // It is not compared with the providers that are known: a file may be older or newer than the program.
  if (typeof provider !== 'string' || !PROVIDER.test(provider))
    throw invalid(`${at}/provider`, 'must be 1 to 64 of the characters a-z 0-9 -')
  return { provider }
}

/** Checks `with` and `subject`: the credential they name must be allowed for the URL that receives its secret. */
function checkChains(credentials: readonly Credential[], strategies: readonly Strategy[]): void {
  credentials.forEach((credential, index) => {
    const strategy = strategies.find(({ type }) => type === credential.type)
    for (const name of ['with', 'subject'] as const) {
      if (typeof credential[name] !== 'string' || (strategy && formOf(strategy, credential)?.fields[name]?.kind !== 'id')) continue
      const at = `/credentials/${index}/${name}`
      const other = credentials.find(({ id }) => id === credential[name])
      if (!other || other === credential) throw invalid(at, `must be the id of another credential, which "${credential[name]}" is not`)
      if (leadsBack(credential, other, credentials)) throw invalid(at, `names "${other.id}", which leads back to this credential`)
      const [first] = strategy?.endpoints?.(credential) ?? []
      const uncovered = typeof first === 'object' ? `${first.origin}/` : first
      if (uncovered && !matchesAny(other.sendTo, new URL(uncovered)))
        throw invalid(at, `names "${other.id}", whose sendTo does not include ${uncovered}`)
    }
  })
}

/** True when the chain leads back to the credential or never ends. */
function leadsBack(credential: Credential, from: Credential, credentials: readonly Credential[]): boolean {
  let next: Credential | undefined = from
  for (let steps = 0; next && steps <= credentials.length; steps++) {
    if (next === credential) return true
    const id = inputIdOf(next)
    next = credentials.find((other) => other.id === id)
  }
  return next !== undefined
}

/** The origin of credentials: in a file a secret must be a source; in code it may be text. */
export type Origin = 'file' | 'code'

const SOURCES = ['env', 'file', 'command', 'keyring', 'netrc', 'prompt'] as const

/** Returns the field's value as strategies use it: `Secret`, `UrlPattern[]`, canonical URL text, or the value as written. */
function readField(value: unknown, field: Field, at: string, from: Origin): unknown {
  return READERS[field.kind](value, field, at, from)
}

const READERS: { readonly [kind in FieldKind]: (value: unknown, field: Field, at: string, from: Origin) => unknown } = {
  text: (value, { values }, at) => {
    if (typeof value !== 'string' || value === '') throw invalid(at, 'must be a string')
    if (values && !values.includes(value)) throw invalid(at, `must be one of ${values.join(', ')}`)
    return value
  },
  texts: (value, _field, at) => {
    if (!Array.isArray(value) || !value.every((entry) => typeof entry === 'string')) throw invalid(at, 'must be a list of strings')
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
    if (typeof value !== 'string') throw invalid(at, 'must be the id of another credential')
    return value
  },
  url: (value, _field, at) => readUrl(value, at),
  issuer: (value, _field, at) => readIssuer(value, at),
  patterns: (value, _field, at) => readPatterns(value, at, false),
  'signed-url-patterns': (value, _field, at) => readPatterns(value, at, true),
  secret: (value, { oneTime }, at, from) => readSecret(value, at, from, oneTime),
  'text-or-secret': (value, _field, at, from) => (typeof value === 'string' ? new Secret(value) : readSecret(value, at, from)),
  parameters: (value, _field, at, from) => readParameters(value, at, from),
  members: (value, _field, at, from) => readMembers(value, at, from),
  places: (value, { values }, at) => readPlaces(value, at, values),
  function: (value, _field, at, from) => {
    if (from === 'code' && typeof value === 'function') return value
    throw invalid(at, 'must be a function, which is only possible in code')
  },
  placement: (value, _field, at) => {
    if (!isObject(value) || value.in !== 'query' || typeof value.name !== 'string') {
      throw invalid(at, 'must be { "in": "query", "name": "…" }')
    }
    return value
  },
}

/** Returns a secret from its source, or in code from a text or a function. Errors: `CONFIG_INVALID`. */
function readSecret(value: unknown, at: string, from: Origin, oneTime = false): Secret {
  const secret = Secret.from(value)
  if (secret) return secret
  if (from === 'code' && (typeof value === 'string' || typeof value === 'function')) return new Secret(value as SecretInput)
  if (typeof value === 'string') {
    throw invalid(
      at,
      'contains a secret: a credential file may only say where secrets are stored',
      'write { "env": "NAME" }, { "file": "~/path" } or { "command": ["program"] }',
    )
  }
  if (!isObject(value) || !isSource(value))
    throw invalid(at, `must be ${from === 'code' ? 'text, a function or ' : ''}an object with one of the keys ${SOURCES.join(', ')}`)
  // A source caches its value; a one-time code must be read each time, and a person is not asked twice.
  const options = { field: at.slice(at.lastIndexOf('/') + 1) }
  if (oneTime) return new Secret(() => platform.secretSource(value, options).read())
  const reader = platform.secretSource(value, options)
  return 'prompt' in value ? new Secret(() => reader.read(), true) : new Secret(reader)
}

/** Parses URL patterns. Errors: `CONFIG_INVALID`. */
function readPatterns(value: unknown, at: string, sharedHosts: boolean) {
  const list = typeof value === 'string' ? [value] : value
  if (!Array.isArray(list)) throw invalid(at, 'must be a list of URL patterns')
  return list.map((pattern, index) => {
    if (typeof pattern !== 'string') throw invalid(`${at}/${index}`, 'must be a URL pattern')
    try {
      return parseUrlPattern(pattern, { sharedHosts })
    } catch (error) {
      throw new ConfigurationError('CONFIG_INVALID', (error as Error).message, { ...(error as AuthError), pointer: `${at}/${index}` })
    }
  })
}

/** True for an object that names exactly one source of a secret. */
export function isSource(value: { readonly [key: string]: unknown }): value is SecretSource {
  const [key, ...more] = Object.keys(value)
  if (key === undefined || more.length) return false
  const content = value[key]
  if (key === 'command') return Array.isArray(content) && content.length > 0 && content.every((part) => typeof part === 'string')
  return (SOURCES as readonly string[]).includes(key) && typeof content === 'string' && content !== ''
}

/** Returns the canonical URL. The user wrote it, so loopback is allowed; http: is for loopback only. */
function readUrl(value: unknown, at: string): string {
  if (typeof value !== 'string' || !canParseUrl(value)) throw invalid(at, 'must be an absolute URL')
  const url = new URL(value)
  const secure = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname))
  if (!secure) throw invalid(at, 'must be an https URL')
  if (url.username || url.password) throw invalid(at, 'must not contain a user name or password')
  url.hash = ''
  return url.href
}

/** Returns the issuer as written: issuers are compared as text (OpenID Connect Core 1.0 §3.1.3.7), so trailing slashes count. */
function readIssuer(value: unknown, at: string): string {
  const { search } = new URL(readUrl(value, at))
  if (search !== '' || String(value).includes('#')) throw invalid(at, 'must not contain a query or a fragment')
  return String(value)
}

function readParameters(value: unknown, at: string, from: Origin): ReadonlyMap<string, Secret> {
  if (!isObject(value)) throw invalid(at, 'must be an object')
  return new Map(
    Object.entries(value).map(([name, content]) => [
      name,
      typeof content === 'string' ? new Secret(content) : readSecret(content, `${at}/${name}`, from),
    ]),
  )
}

/** Returns the members of a body to send: values of JSON, and the sources of secrets among them. */
function readMembers(value: unknown, at: string, from: Origin): ReadonlyMap<string, unknown> {
  if (!isObject(value)) throw invalid(at, 'must be an object')
  const isSecret = (content: unknown) =>
    content instanceof Secret || typeof content === 'function' || (isObject(content) && isSource(content))
  return new Map(
    Object.entries(value).map(([name, content]) => [name, isSecret(content) ? readSecret(content, `${at}/${name}`, from) : content]),
  )
}

/** Returns the places by name: own members, each a text. */
function readPlaces(value: unknown, at: string, names: readonly string[] = []): ReadonlyMap<string, string> {
  if (!isObject(value)) throw invalid(at, 'must be an object')
  return new Map(
    Object.entries(value).map(([name, place]) => {
      if (!names.includes(name)) throw invalid(`${at}/${name}`, 'is not one of them', `fields: ${names.join(', ')}`)
      if (typeof place !== 'string' || place === '') throw invalid(`${at}/${name}`, 'must be the name of a member, or a JSON Pointer')
      return [name, place]
    }),
  )
}
