import type { UncheckedCredential } from '../auth/credential.ts'
import type { DescribeOptions } from './describe-needs.ts'
import type { FormModel } from './form-model.ts'

/** What the person agreed to. */
export interface Consent {
  /** Of the form's `sendTo`, those that were shown and agreed to. */
  readonly sendTo: readonly string[]
  /** The form's `secretTo`, where it has any: all of it must have been shown. */
  readonly secretTo?: readonly string[]
  /** Id of the new entry; default: by its type. */
  readonly id?: string
}

/**
 * The entry for a form that was filled in, for `createAuth`. It goes where the person agreed to, and never further than the form said.
 * Values are texts as forms give them; a checkbox may be a boolean.
 *
 * Errors: `CONFIG_INVALID` with the pointer of the field, for a place that the form did not show, too; the code of the form's obstacle.
 */
export async function entryFrom(
  model: FormModel,
  values: Readonly<Record<string, string | boolean>>,
  consent: Consent,
  options: Pick<DescribeOptions, 'strategies'> = {},
): Promise<UncheckedCredential> {
  const { entryOfForm } = await import('./entry-of-form.ts')
  return entryOfForm(model, values, consent, options)
}
