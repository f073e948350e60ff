import type { CallInput } from '../call-options.ts'
import { ValidationError } from '../errors.ts'
import type { TranslationOperation } from './operations.ts'
import type { TranslationCallOptions } from './translation-options.ts'

/**
 * An operation in the encoding that a call asks for. Errors: `REQUEST_INVALID` for a form where the service reads none, and for members
 * that only JSON can have.
 */
export function sentAs(
  operation: TranslationOperation,
  input: CallInput,
  { encoding }: TranslationCallOptions,
): { readonly operation: TranslationOperation; readonly input: CallInput } {
  if (encoding !== 'form') return { operation, input }
  if (!operation.form) throw refused('encoding', `${operation.name} reads no forms`)
  const known = forms.get(operation)
  const form = known ?? { ...operation, body: 'form' as const }
  if (!known) forms.set(operation, form)
  return { operation: form, input: { ...input, ...(isMembers(input.body) && { body: inForm(input.body) }) } }
}

type Members = Readonly<Record<string, unknown>>

/** One object for each, because what is prepared for an operation is kept by it. */
const forms = new WeakMap<TranslationOperation, TranslationOperation>()

/** One text with commas between them; other lists are repeated. */
const JOINED = new Set(['glossary_ids', 'non_splitting_tags', 'splitting_tags', 'ignore_tags'])
const JSON_ONLY = ['style_id', 'custom_instructions', 'tag_handling_version']

/** Members of a body as a form has them. Errors: `REQUEST_INVALID` for those that only JSON can have. */
export function inForm(members: Members): Members {
  const wrong = JSON_ONLY.find((name) => members[name] !== undefined)
  if (wrong) throw refused(wrong, `"${wrong}" can only be sent as JSON`)
  return Object.fromEntries(Object.entries(members).flatMap(([name, value]) => inFormMember(name, value)))
}

/** Members of listed objects are written `dictionaries[0].source_lang`. */
function inFormMember(name: string, value: unknown): readonly (readonly [string, unknown])[] {
  if (!Array.isArray(value)) return [[name, value]]
  if (JOINED.has(name)) return [[name, value.join(',')]]
  if (!value.some((item) => typeof item === 'object' && item !== null)) return [[name, value]]
  return value.flatMap((item: object, index) => Object.entries(item).map(([key, inner]) => [`${name}[${index}].${key}`, inner] as const))
}

function isMembers(body: unknown): body is Members {
  return typeof body === 'object' && body !== null
}

function refused(field: string, why: string): ValidationError {
  return new ValidationError('REQUEST_INVALID', `${why}; nothing was sent`, { field })
}
