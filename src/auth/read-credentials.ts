/** Reads the user's entries: checks every field, wraps secrets, parses patterns. */
import { ConfigurationError } from '../errors.ts'
import { isObject, type JsonObject, pointer } from '../stac/json.ts'
import { nearMiss } from '../stac/near.ts'
import type { Credential, CredentialObject, EntryForm, SourceOf } from './credential.ts'
import { flatten } from './flatten.ts'
import { coveredBy } from './grant.ts'
import { invalid } from './invalid.ts'
import { type Origin, readField, readPatterns } from './read-field.ts'
import type { Strategy } from './strategy.ts'

const BASE_FIELDS = new Set(['id', 'type', 'sendTo', 'use'])
const ID = /^[A-Za-z0-9._-]{1,64}$/

/**
 * The entries, ready to match. Pointers in errors start at `/credentials`, as in the credential file.
 *
 * Errors: `CONFIG_INVALID` with the pointer of the field.
 */
export function readCredentials(
  source: SourceOf<CredentialObject>,
  strategies: readonly Strategy[],
  from: Origin = 'code',
): readonly Credential[] {
  const { credentials, preferred = [] } = flatten(source)
  const seen = new Set<string>()
  const entries = credentials.map((input, index) => {
    const at = `/credentials/${index}`
    const entry = readEntry(input, at, strategies, from, index)
    if (seen.has(entry.id)) throw invalid(`${at}/id`, `"${entry.id}" is used twice`)
    seen.add(entry.id)
    const rank = preferred.indexOf(entry.id)
    return rank < 0 ? entry : { ...entry, preference: rank }
  })
  preferred.forEach((id, index) => {
    if (!seen.has(id)) throw invalid(`/preferred/${index}`, `names no entry: "${id}"`)
  })
  checkChains(entries, strategies)
  return entries
}

function unknownType(at: string, types: readonly string[]): ConfigurationError {
  return invalid(`${at}/type`, `must be one of ${types.join(', ')}`)
}

function readEntry(input: unknown, at: string, strategies: readonly Strategy[], from: Origin, index: number): Credential {
  if (!isObject(input)) throw invalid(at, 'must be an object')
  const strategy = strategies.find(({ type }) => type === input.type)
  if (!strategy)
    throw unknownType(
      at,
      strategies.map(({ type }) => type),
    )
  const form = formOf(strategy, input)
  if (!form) {
    const name = typeof input.id === 'string' ? input.id : String(index)
    throw new ConfigurationError('CONFIG_INVALID', `"${name}" is no entry of type ${strategy.type}: ${whatSelects(strategy)}`, {
      pointer: at,
    })
  }
  const fields: Record<string, unknown> = {}
  for (const name of Object.keys(input)) {
    if (BASE_FIELDS.has(name)) continue
    const field = Object.hasOwn(form.fields, name) ? form.fields[name] : undefined
    if (!field)
      throw invalid(
        pointer(at, name),
        `is not a field of ${strategy.type} entries`,
        `${meant(name, form)}fields: ${Object.keys(form.fields).join(', ')}${form.when ? '' : otherForms(strategy)}`,
      )
    if (input[name] !== undefined) fields[name] = readField(input[name], field, pointer(at, name), from)
  }
  for (const [name, field] of Object.entries(form.fields)) {
    if (field.required && fields[name] === undefined) throw invalid(pointer(at, name), `is missing (${field.label})`)
  }
  const base = { id: readId(input, at, from, index), type: strategy.type, preference: Number.POSITIVE_INFINITY }
  const entry = { ...fields, ...base, sendTo: readSendTo(input, at, form), ...readUse(input, at) }
  return refined(strategy, entry, at)
}

function refined(strategy: Strategy, entry: Credential, at: string): Credential {
  try {
    return strategy.refine?.(entry) ?? entry
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    throw new ConfigurationError(error.code, error.message, { ...error, pointer: at + (error.pointer ?? '') })
  }
}

/** The first form whose `when` agrees with the entry. */
function formOf({ forms }: Strategy, input: JsonObject): EntryForm | undefined {
  return forms.find(({ when = {} }) => Object.entries(when).every(([name, values]) => values.includes(input[name] as string)))
}

/** `sendTo` is a field of every form. */
function meant(name: string, { fields }: EntryForm): string {
  const near = nearMiss(name, [...Object.keys(fields), 'sendTo'])
  return near === undefined ? '' : `did you mean "${near}"? `
}

/** Where the form at hand is the one for everything else, the user may have meant another. */
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

/** Forms that can do without `sendTo` say so by a field of that name. */
function readSendTo(input: JsonObject, at: string, form: EntryForm) {
  if (input.sendTo !== undefined) return readPatterns(input.sendTo, `${at}/sendTo`, false)
  if (form.fields.sendTo?.required !== false) {
    throw invalid(`${at}/sendTo`, 'is missing: say where this credential may go', 'for example "sendTo": ["https://data.example/"]')
  }
  return []
}

function readUse({ use }: JsonObject, at: string): Pick<Credential, 'use'> {
  if (use === undefined) return {}
  if (use !== 'by-address') throw invalid(`${at}/use`, 'must be "by-address", or be left out')
  return { use }
}

/** `with` and `subject` hand material to an address, so the entry named must be allowed to go there. */
function checkChains(entries: readonly Credential[], strategies: readonly Strategy[]): void {
  entries.forEach((entry, index) => {
    const strategy = strategies.find(({ type }) => type === entry.type)
    for (const name of ['with', 'subject'] as const) {
      if (typeof entry[name] !== 'string' || (strategy && formOf(strategy, entry)?.fields[name]?.kind !== 'id')) continue
      const at = `/credentials/${index}/${name}`
      const other = entries.find(({ id }) => id === entry[name])
      if (!other || other === entry) throw invalid(at, `must be the id of another entry, "${entry[name]}" is none`)
      if (leadsBack(entry, other, entries)) throw invalid(at, `names "${other.id}", which leads back to this entry`)
      const [first] = strategy?.endpoints?.(entry) ?? []
      const uncovered = typeof first === 'object' ? `${first.origin}/` : first
      if (uncovered && !coveredBy(other.sendTo, new URL(uncovered)))
        throw invalid(at, `names "${other.id}", whose sendTo does not cover ${uncovered}`)
    }
  })
}

/** True when following the chain from there comes to the entry again, or to no end. */
function leadsBack(entry: Credential, from: Credential, entries: readonly Credential[]): boolean {
  let next: Credential | undefined = from
  for (let steps = 0; next && steps <= entries.length; steps++) {
    if (next === entry) return true
    const id: unknown = next.with ?? next.subject
    next = entries.find((other) => other.id === id)
  }
  return next !== undefined
}
