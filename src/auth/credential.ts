/** The user's credential entries: the shapes they may have, and what they are after reading. */
import type { Grant } from './grant.ts'
import type { SecretInput } from './secret.ts'

/** Where a secret is kept, for entries in a file; exactly one key. */
export type SecretSource =
  | { readonly env: string }
  | { readonly file: string }
  | { readonly command: readonly string[] }
  | { readonly keyring: string }
  | { readonly prompt: string }

/** An entry as a user writes it, in the credential file or in code. */
export interface CredentialInput {
  /** Label for messages, `[A-Za-z0-9._-]{1,64}`; in code it may be left out. Never compared with scheme names. */
  readonly id?: string
  readonly type: string
  /** Patterns of addresses that may receive the material; in code one string is enough. */
  readonly sendTo?: string | readonly string[]
  /** `by-address`: targets without references whose URL `sendTo` covers get it, too. */
  readonly use?: 'by-address'
  readonly [field: string]: unknown
}

/** Several entries and the order in which alternatives are preferred (ids). */
export interface CredentialSet {
  readonly credentials: readonly CredentialInput[]
  readonly preferred?: readonly string[]
}

export type CredentialSource = CredentialInput | CredentialSet | readonly CredentialSource[]

/** An entry after reading: patterns parsed, secrets wrapped, everything known to the strategy of its type checked. */
export interface Credential {
  readonly id: string
  readonly type: string
  /** Where the material may go. */
  readonly sendTo: readonly Grant[]
  /** 0 for the first of `preferred`, then 1 …; Infinity when it is not preferred. */
  readonly preference: number
  /** The user lets targets without references have it. */
  readonly use?: 'by-address'
  readonly [field: string]: unknown
}

/** Field kinds of an entry. `issuer` is a URL that is kept as it is written, for it is compared as text; `secret` takes a source (in code also text or a function), `text-or-secret` text as well; `function` is for code only. */
export type FieldKind =
  | 'text'
  | 'secret'
  | 'text-or-secret'
  | 'url'
  | 'issuer'
  | 'boolean'
  | 'number'
  | 'texts'
  | 'patterns'
  | 'signed-url-patterns'
  | 'id'
  | 'parameters'
  | 'placement'
  | 'function'

/** One field of an entry. */
export interface Field {
  readonly kind: FieldKind
  /** For people: a prompt, a form label, a table cell. */
  readonly label: string
  readonly required?: boolean
  /** The values allowed, for `text`. */
  readonly values?: readonly string[]
  /** True for texts of several lines, such as keys in PEM. */
  readonly lines?: true
  /** True for one-time codes: the source of the secret is read again for every use. */
  readonly oneTime?: true
}

/** One shape that the entries of a type may have, chosen by the values of `when` (`undefined`: the field is absent); the first that fits counts. */
export interface EntryForm {
  readonly when?: { readonly [field: string]: readonly (string | boolean | undefined)[] }
  readonly fields: { readonly [name: string]: Field }
}

/** What a user must supply for a scheme: for prompts, web forms and the entry printed in errors. */
export interface CredentialForm {
  /** The entry as far as the scheme determines it; `id`, `sendTo` and the fields below complete it. */
  readonly entry: { readonly type: string; readonly [field: string]: unknown }
  /** The fields to fill in, secret ones marked by their kind. */
  readonly fields: { readonly [name: string]: Field }
  /** Where the material goes in each request, where that is neither in `entry` nor the header `authorization`. */
  readonly carriedIn?: 'address' | 'signature'
  /** The address at which a person logs in, or that of the document which names it. */
  readonly loginAt?: string
  /** What pages can do of it; default: all. `if exposed`: servers must let them see the challenge. */
  readonly inPages?: 'if exposed' | 'never'
}

/**
 * An entry for a finished token that may go to one origin; it answers `http` bearer, `oauth2` and `openIdConnect`.
 *
 * @example createAuth({ credentials: [bearer(token, 'https://data.example/')] })
 */
export function bearer(token: SecretInput, sendTo: string | readonly string[]): CredentialInput {
  return { type: 'http', scheme: 'bearer', token, sendTo }
}
