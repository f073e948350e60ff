/** What a person must be asked before a catalog's files can be read, as data for a form. Texts of the catalog are cleaned. */
import type { ErrorCode } from '../errors.ts'

export interface FormModel {
  /** As the catalog calls the scheme, and what it says about it. */
  readonly name: string
  readonly description?: string
  /** Type of the scheme. */
  readonly type: string
  /** In the order in which they are asked for. */
  readonly fields: readonly FormField[]
  /** Where the credential would go: patterns of addresses, to be shown and agreed to. */
  readonly sendTo: readonly string[]
  /** In which part of each request to these. */
  readonly carriedIn: { readonly place: 'header' | 'query' | 'cookie' | 'address' | 'signature'; readonly name?: string }
  /** Endpoints that get what is typed, before anything goes to the data: token endpoints, signing services. */
  readonly secretTo: readonly string[]
  /** Where a person logs in afterwards (`popup`, `redirect`), or the document that names the page. */
  readonly loginAt?: string
  /** What has to be true of servers for this to work in a page. */
  readonly condition?: string
  /** Why it cannot be done here, whatever is typed. */
  readonly obstacle?: { readonly code: ErrorCode; readonly message: string; readonly hint?: string }
  /** The part of the entry that the catalog determines; no secret. */
  readonly entry: { readonly type: string; readonly [field: string]: unknown }
}

export interface FormField {
  /** Name in the entry, and in the values given to `entryFrom`. */
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
