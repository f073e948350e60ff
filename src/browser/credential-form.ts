/** What a person must be asked before a catalog's files can be read, as data for a form. Texts of the catalog are cleaned. */

import type { UncheckedCredential } from '../auth/credential.ts'
import type { LazyStrategy, Strategy } from '../auth/strategy.ts'
import type { ErrorCode } from '../errors.ts'
import type { Target } from '../stac/target.ts'

export interface DescribeOptions {
  /** As for `createAuth`. */
  readonly strategies?: readonly (Strategy | LazyStrategy)[]
  /** Origins that the user typed: they may be loopback or private. */
  readonly typed?: readonly string[]
}

/**
 * One form for each scheme that the targets ask for, in the order of their references; schemes that nobody knows are left out. No
 * network. A form says where everything would go, and whether a page can do it at all. Errors: `TARGET_NOT_FOUND` for what `assetOf` did not
 * find.
 */
export async function describeRequirements(
  targets: Target | Iterable<Target> | undefined,
  options: DescribeOptions = {},
): Promise<readonly FormModel[]> {
  const { formModels } = await import('./form-models.ts')
  return formModels(targets, options)
}

export interface FormModel {
  /** As the catalog calls the scheme, and what it says about it. */
  readonly name: string
  readonly description?: string
  /** Type of the scheme. */
  readonly type: string
  /** In the order in which they are asked for. */
  readonly fields: readonly FormField[]
  /** Where the credential would go: patterns of URLs, to be shown and agreed to. */
  readonly sendTo: readonly string[]
  /** In which part of each request to these. */
  readonly carriedIn: { readonly place: 'header' | 'query' | 'cookie' | 'url' | 'signature'; readonly name?: string }
  /** Endpoints that get what is typed, before anything goes to the data: token endpoints, signing services. */
  readonly secretTo: readonly string[]
  /** Where a person logs in afterwards (`popup`, `redirect`), or the document that names the page. */
  readonly loginAt?: string
  /** What has to be true of servers for this to work in a page. */
  readonly condition?: string
  /** Why it cannot be done here, whatever is typed. */
  readonly obstacle?: { readonly code: ErrorCode; readonly message: string; readonly hint?: string }
  /** The part of the credential that the catalog determines; no secret. */
  readonly credential: { readonly type: string; readonly [field: string]: unknown }
}

export interface FormField {
  /** Name in the credential, and in the values passed to `credentialFrom`. */
  readonly name: string
  readonly label: string
  readonly type: 'text' | 'password' | 'textarea' | 'url' | 'number' | 'checkbox' | 'select'
  readonly required: boolean
  /** For the attribute `autocomplete`. */
  readonly autocomplete: 'username' | 'current-password' | 'off'
  /** Never to be shown, logged or kept where others read it. */
  readonly secret: boolean
  /** For `select`. */
  readonly options?: readonly string[]
  /** True for several texts with blanks between them. */
  readonly several?: true
}

/** What the person agreed to. */
export interface Consent {
  /** Of the form's `sendTo`, those that were shown and agreed to. */
  readonly sendTo: readonly string[]
  /** The form's `secretTo`, where it has any: all of it must have been shown. */
  readonly secretTo?: readonly string[]
  /** Id of the new credential; default: by its type. */
  readonly id?: string
}

/**
 * The credential for a form that was filled in, for `createAuth`. It goes where the person agreed to, and never further than the form said.
 * Values are texts as forms give them; a checkbox may be a boolean.
 *
 * Errors: `CONFIG_INVALID` with the pointer of the field, for a place that the form did not show, too; the code of the form's obstacle.
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
