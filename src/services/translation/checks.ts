/** Checks what is sent against the table of operations, and writes bodies as forms. */
import { utf8Length } from '../../text/utf8-length.ts'
import { ValidationError } from '../client/errors.ts'
import { encodeForm } from '../client/form.ts'
import type { FormMembers } from '../client/request.ts'
import { operations, type Size, type TranslationOperation } from './operations.ts'
import type { TranslationCallOptions, Validation } from './translation-service.ts'

/**
 * Checks the members of a query or body. Errors: `REQUEST_INVALID`, `REQUEST_TOO_LARGE`; `TypeError` for another type, and
 * `REQUEST_INVALID` for an unpaired surrogate, whatever `validation` is.
 */
export function checkMembers(row: TranslationOperation, members: FormMembers, validation: Validation): void {
  const { types = {}, rules = [], sizes = {} } = row
  for (const [name, type] of Object.entries(types)) checkType(name, members[name], type)
  checkSurrogates(members)
  const isChecked = ({ documented }: { readonly documented?: true }) => validation === 'strict' || (documented && validation === 'document')
  for (const { field, limit, problem } of rules.filter(isChecked)) {
    const why = problem(members)
    if (why) throw new ValidationError('REQUEST_INVALID', `${why}; nothing was sent`, { field, ...(limit !== undefined && { limit }) })
  }
  for (const [path, size] of Object.entries(sizes).filter(([, one]) => isChecked(one)))
    for (const [field, value] of valuesAt(members, path.split(/\.|(?=\[\])/), '')) checkSize(value, field, size)
}

/** Checks the parameters of translations of texts and documents. Errors: those of {@link checkMembers}. */
export function checkTranslation(params: FormMembers, validation: Validation): void {
  checkMembers(operations.translateText, { text: [''], ...params }, validation)
}

/** Checks the size of the body as it is sent. Errors: `REQUEST_TOO_LARGE`. */
export function checkBodySize(
  { largest }: TranslationOperation,
  body: FormMembers,
  { extraBody, encoding }: TranslationCallOptions,
  validation: Validation,
): void {
  if (!largest || validation === 'off' || (validation === 'document' && !largest.documented)) return
  const { most: limit, hint } = largest
  const size = bodySize({ ...body, ...extraBody }, encoding)
  if (size <= limit) return
  const message = `a request has at most ${limit} bytes, this one would have ${size}; nothing was sent`
  throw new ValidationError('REQUEST_TOO_LARGE', message, { field: 'text', limit, ...(hint && { hint }) })
}

/** Returns the size of the body in bytes as it is sent. */
export function bodySize(body: FormMembers, encoding: 'json' | 'form' = 'json'): number {
  return encoding === 'form' ? encodeForm(inForm(body), { arrays: 'repeat' }).length : utf8Length(JSON.stringify(body) ?? '')
}

function checkType(name: string, value: unknown, type: 'text' | 'texts' | 'texts?'): void {
  if (type === 'text' && typeof value !== 'string') throw new TypeError(`${name} must be a string`)
  if (type === 'text' || (type === 'texts?' && value === undefined)) return
  const isTexts = Array.isArray(value) && value.every((text) => typeof text === 'string')
  if (!isTexts) throw new TypeError(`${name} must be an array of strings`)
}

/** Checks that a form could carry a value too, so that both encodings refuse the same. Errors: `REQUEST_INVALID`. */
export function checkSurrogates(value: unknown, at = '', seen = new Set<unknown>()): void {
  if (typeof value === 'string' && !value.isWellFormed()) {
    const field = at || 'body'
    throw new ValidationError('REQUEST_INVALID', `"${field}" has an unpaired surrogate in it; nothing was sent`, { field })
  }
  if (typeof value !== 'object' || value === null || seen.has(value)) return
  seen.add(value)
  const isList = Array.isArray(value)
  for (const [name, member] of Object.entries(value))
    checkSurrogates(member, isList ? `${at}[${name}]` : at === '' ? name : `${at}.${name}`, seen)
}

/** Returns the values at a path that are present, with their names. */
function valuesAt(value: unknown, [step, ...rest]: readonly string[], at: string): readonly (readonly [field: string, value: unknown])[] {
  if (value === undefined) return []
  if (step === undefined) return [[at, value]]
  if (step !== '[]') return valuesAt(Object(value)[step], rest, at === '' ? step : `${at}.${step}`)
  return Array.isArray(value) ? value.flatMap((item, index) => valuesAt(item, rest, `${at}[${index}]`)) : []
}

/** Checks one value. Errors: as of {@link checkMembers}, without the value. */
function checkSize(value: unknown, field: string, size: Size): void {
  const { unit, least = 0, most: limit, code = 'REQUEST_TOO_LARGE', hint } = size
  const refuse = (why: string, how: typeof code | 'REQUEST_INVALID' = code) => {
    throw new ValidationError(how, `${field} ${why}; nothing was sent`, { field, limit, ...(hint && { hint }) })
  }
  if (unit === 'items') {
    if (!Array.isArray(value)) throw new TypeError(`${field} must be an array`)
    if (value.length < least) refuse(`needs at least ${least}`, 'REQUEST_INVALID')
    if (value.length > limit) refuse(`has ${value.length}, at most ${limit} can be sent at once`)
  } else if (unit === 'number') {
    if (!Number.isInteger(value) || Number(value) < least) refuse(`must be a whole number of at least ${least}`, 'REQUEST_INVALID')
    if (Number(value) > limit) refuse(`is more than ${limit}`)
  } else {
    if (typeof value !== 'string') throw new TypeError(`${field} must be a string`)
    if (value.length * (unit === 'bytes' ? 3 : 1) <= limit) return
    const length = unit === 'bytes' ? utf8Length(value) : value.length > limit * 2 ? value.length : [...value].length
    if (length > limit) refuse(`has more than ${limit} ${unit === 'bytes' ? 'bytes in UTF-8' : 'characters'}`)
  }
}

/** Lists that are sent as one text with commas; other lists are repeated. */
const JOINED = new Set(['glossary_ids', 'non_splitting_tags', 'splitting_tags', 'ignore_tags'])

const JSON_ONLY = ['style_id', 'custom_instructions', 'tag_handling_version']

/** Returns the members of a body as form fields. Errors: `REQUEST_INVALID` for members that only JSON can express. */
export function inForm(members: FormMembers): FormMembers {
  const wrong = JSON_ONLY.find((name) => members[name] !== undefined)
  if (wrong) throw new ValidationError('REQUEST_INVALID', `"${wrong}" can only be sent as JSON; nothing was sent`, { field: wrong })
  return Object.fromEntries(Object.entries(members).flatMap(([name, value]) => inFormMember(name, value)))
}

/** Returns one member of a body for a form; members of objects in lists are named `dictionaries[0].source_lang`. */
function inFormMember(name: string, value: unknown): readonly (readonly [string, unknown])[] {
  if (!Array.isArray(value)) return [[name, value]]
  if (JOINED.has(name)) return [[name, value.join(',')]]
  if (!value.some((item) => typeof item === 'object' && item !== null)) return [[name, value]]
  return value.flatMap((item: object, index) => Object.entries(item).map(([key, inner]) => [`${name}[${index}].${key}`, inner] as const))
}
