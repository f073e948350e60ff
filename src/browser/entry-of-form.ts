import { type UncheckedCredential, uncheckedCredential } from '../auth/credential.ts'
import { readCredentials } from '../auth/read-credentials.ts'
import { loadStrategies } from '../auth/registry.ts'
import { ConfigurationError, isAuthError, UnsupportedError } from '../errors.ts'
import { defaultStrategies } from '../strategies/index.ts'
import type { DescribeOptions } from './describe-needs.ts'
import type { Consent } from './entry-from.ts'
import type { FormField, FormModel } from './form-model.ts'

/** What `entryFrom` promises. */
export async function entryOfForm(
  model: FormModel,
  values: Readonly<Record<string, string | boolean>>,
  { sendTo, secretTo = [], id }: Consent,
  { strategies = defaultStrategies }: Pick<DescribeOptions, 'strategies'> = {},
): Promise<UncheckedCredential> {
  const { obstacle, entry: known, fields } = model
  if (obstacle) throw new UnsupportedError(obstacle.code, obstacle.message, obstacle.hint === undefined ? {} : { hint: obstacle.hint })
  if (sendTo.length === 0) throw invalid('sendTo', 'agree to at least one place, or make no entry')
  const further = sendTo.find((pattern) => !model.sendTo.includes(pattern))
  if (further !== undefined) throw invalid('sendTo', `"${further}" is not in this form: a credential goes nowhere that was not shown`)
  const unseen = model.secretTo.find((endpoint) => !secretTo.includes(endpoint))
  if (unseen !== undefined) throw invalid('secretTo', `"${unseen}" would get a secret, and nobody agreed to that`)
  const unknown = Object.keys(values).find((name) => !fields.some((field) => field.name === name))
  if (unknown !== undefined) throw invalid(unknown, `"${unknown}" is no field of this form`)
  const typed = fields.flatMap((field) => {
    const value = typedValue(field, Object.hasOwn(values, field.name) ? values[field.name] : undefined)
    if (value === undefined && field.required) throw invalid(field.name, `"${field.label}" is missing`)
    return value === undefined ? [] : [[field.name, value]]
  })
  const entry = uncheckedCredential({ ...(id !== undefined && { id }), ...Object.fromEntries(typed), ...known, sendTo: [...sendTo] })
  const loaded = await loadStrategies(strategies)
  checkEntry(() => readCredentials(entry, loaded))
  return entry
}

/** A text, several, a number or a yes; nothing for what was left empty. */
function typedValue({ type, several, secret, name }: FormField, value: string | boolean | undefined): unknown {
  if (type === 'checkbox') return value === true || value === 'on' ? true : undefined
  if (value === undefined || value === '') return undefined
  if (typeof value !== 'string') throw invalid(name, `"${name}" must be a text`)
  if (several) return value.split(/[\s,]+/).filter((text) => text !== '')
  if (type === 'number') return Number(value)
  return secret ? value : value.trim()
}

/** The pointer is that of the field alone: there is one entry. */
function checkEntry(check: () => unknown): void {
  try {
    check()
  } catch (error) {
    if (!isAuthError(error)) throw error
    const pointer = error.pointer?.replace(/^\/credentials\/0/, '')
    throw new ConfigurationError(error.code, error.message, {
      ...(error.hint !== undefined && { hint: error.hint }),
      ...(pointer && { pointer }),
    })
  }
}

function invalid(field: string, message: string): ConfigurationError {
  return new ConfigurationError('CONFIG_INVALID', message, { pointer: `/${field}` })
}
