/** The findings of the linter. */

/** The severity of a finding. */
export type Severity = 'error' | 'warn' | 'info'

/** A severity, or `off` for a rule that does not run. */
export type Level = Severity | 'off'

export const LEVELS = ['off', 'info', 'warn', 'error'] as const satisfies readonly Level[]

/** Sets of levels: findings that fail in clients, all findings, or only those that a JSON Schema can find. */
export type Preset = 'recommended' | 'strict' | 'schema'

export const PRESETS = ['recommended', 'strict', 'schema'] as const satisfies readonly Preset[]

/** One of the places of a repeated finding. */
export interface Place {
  /** Path or URL of the document, as the caller named it; absent when it is that of the finding, or a list of documents. */
  readonly document?: string
  /** The `id` of the Item, Collection or Catalog. */
  readonly id?: string
  /** RFC 6901 pointer from the root of what was read. */
  readonly pointer: string
  /** Line of the beginning, from 1; absent for a document without a text. */
  readonly line?: number
  /** Column of the beginning in UTF-16 code units, from 1. */
  readonly column?: number
}

/** A place outside of a document: in the list of documents around it, or in a document above it. */
export interface Cause extends Place {
  /** Line of the end, from 1. */
  readonly endLine?: number
  /** Column behind the end, from 1. */
  readonly endColumn?: number
}

/** One finding. Line and column are 1-based, columns in UTF-16 units; they are absent where there is no text. */
export interface Problem extends Cause {
  /** The id of the rule, which covers all forms of one mistake. */
  readonly rule: string
  /** The case of the rule: one form of the mistake. The only case of a rule has the rule's id. */
  readonly code: string
  /** The severity, by the preset and the levels of the user. */
  readonly severity: Severity
  /** One sentence; contains text of the document, so sanitize it before showing it. Never contains a secret. */
  readonly message: string
  /** Present when a fix exists: `safe` keeps the meaning, a `suggestion` needs a review. */
  readonly fix?: 'safe' | 'suggestion'
  /** Identifies the finding across edits of the catalog: code, document, place without indexes. Not always unique. */
  readonly fingerprint?: string
  /** Number of equal findings in a report; absent for a single one. */
  readonly count?: number
  /** The first places of a finding that has a `count`. */
  readonly places?: readonly Place[]
  /** What lacks or contains the scheme: the list around the document, or a document above it. Reports show the finding there. */
  readonly cause?: Cause
}
