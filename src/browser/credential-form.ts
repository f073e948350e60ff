/** Form models: the fields that a user must fill in before protected targets can be requested. Texts of the catalog are sanitized. */

import type { CredentialObject, UncheckedCredential } from '../auth/credential.ts'
import type { LazyStrategy, Strategy } from '../auth/strategy.ts'
import type { ErrorCode } from '../errors.ts'
import type { Target } from '../stac/target.ts'

/** Options of `describeRequirements`. */
export interface DescribeOptions {
  /** As for `createAuth`. */
  readonly strategies?: readonly (Strategy | LazyStrategy)[]
  /** Origins that the user typed: they may be loopback or private addresses. */
  readonly typed?: readonly string[]
}

/**
 * Returns one form for each scheme that the targets refer to, in the order of their references; schemes that are missing or of an unknown
 * type are omitted. Uses no network. A form states where the credential would be sent, and whether a page can use the scheme at all.
 *
 * Errors: `TARGET_NOT_FOUND` when `assetOf` found no target.
 *
 * @example const [form] = await describeRequirements(assetOf(item, 'B04'))
 */
export async function describeRequirements(
  targets: Target | Iterable<Target> | undefined,
  options: DescribeOptions = {},
): Promise<readonly FormModel[]> {
  const { formModels } = await import('./form-models.ts')
  return formModels(targets, options)
}

/**
 * Returns the form for the fields that a credential lacks, such as its secrets: `sendTo` and all others are those of the credential. Call it
 * only for credentials of the user or of the page's author.
 *
 * Errors: `CONFIG_INVALID` for an unsupported type.
 */
export async function formOfCredential(
  credential: CredentialObject,
  options: Pick<DescribeOptions, 'strategies'> = {},
): Promise<FormModel> {
  const { formFor } = await import('./form-models.ts')
  return formFor(credential, options)
}

/** A form for a credential that a document needs. */
export interface FormModel {
  /** Name and description of the scheme in the catalog. */
  readonly name: string
  /** Description of the scheme for the user; text of the catalog. */
  readonly description?: string
  /** Type of the scheme. */
  readonly type: string
  /** The fields, in the order in which to show them. */
  readonly fields: readonly FormField[]
  /** URL patterns that the credential would be sent to: show them and let the user confirm them. */
  readonly sendTo: readonly string[]
  /** Part of the requests to these URLs that carries the secret. */
  readonly carriedIn: { readonly place: 'header' | 'query' | 'cookie' | 'url' | 'signature'; readonly name?: string }
  /** Endpoints that receive the typed secret before a target is requested: token endpoints, signing APIs. */
  readonly secretTo: readonly string[]
  /** URL of the login page (`popup`, `redirect`), or of the document that names it. */
  readonly loginAt?: string
  /** Conditions that servers must meet for this scheme to work in a page. */
  readonly condition?: string
  /** The reason why a page cannot use this scheme, whatever is typed. */
  readonly obstacle?: { readonly code: ErrorCode; readonly message: string; readonly hint?: string }
  /** The part of the credential that the catalog determines. Contains no secret. */
  readonly credential: { readonly type: string; readonly [field: string]: unknown }
}

/** One field of a form for a credential. */
export interface FormField {
  /** Name in the credential, and in the values passed to `credentialFrom`. */
  readonly name: string
  /** Label for the user. */
  readonly label: string
  /** Kind of the form control. */
  readonly type: 'text' | 'password' | 'textarea' | 'url' | 'number' | 'checkbox' | 'select'
  /** True when it must not be empty. */
  readonly required: boolean
  /** For the attribute `autocomplete`. */
  readonly autocomplete: 'username' | 'current-password' | 'off'
  /** True when the value must not be shown, logged or stored where others can read it. */
  readonly secret: boolean
  /** For `select`. */
  readonly options?: readonly string[]
  /** True for several values separated by spaces. */
  readonly several?: true
}

/** The consent of the user. */
export interface Consent {
  /** The members of the form's `sendTo` that the user saw and agreed to. */
  readonly sendTo: readonly string[]
  /** The form's `secretTo`, if it has any; the user must have seen all of it. */
  readonly secretTo?: readonly string[]
  /** Id of the new credential; default: derived from its type. */
  readonly id?: string
}

/**
 * Returns the credential of a completed form, for `createAuth`. It is limited to the URLs that the user agreed to, which must be in the
 * form. Values are strings as forms provide them; a checkbox may be a boolean.
 *
 * Errors: `CONFIG_INVALID` with the pointer of the field, also for a URL that is not in the form; the code of the form's obstacle.
 *
 * @example auth.credentials.add(await credentialFrom(form, { value: input.value }, { sendTo: form.sendTo }))
 */
export async function credentialFrom(
  model: FormModel,
  values: Readonly<Record<string, string | boolean>>,
  consent: Consent,
  options: Pick<DescribeOptions, 'strategies'> = {},
): Promise<UncheckedCredential> {
  const { credentialOfForm } = await import('./form-models.ts')
  return credentialOfForm(model, values, consent, options)
}
