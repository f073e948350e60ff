/** The findings of the linter. */

/** How bad a finding is. */
export type Severity = 'error' | 'warn' | 'info'

/** A severity, or `off` for a rule that does not run. */
export type Level = Severity | 'off'

export const LEVELS = ['off', 'info', 'warn', 'error'] as const satisfies readonly Level[]

/** Sets of levels: what fails in clients, every finding, or only what a JSON Schema can find. */
export type Preset = 'recommended' | 'strict' | 'schema'

export const PRESETS = ['recommended', 'strict', 'schema'] as const satisfies readonly Preset[]

/** One finding. Line and column are 1-based, columns in UTF-16 units; they are absent where there is no text. */
export interface Problem {
  /** The rule that was broken: one mistake, in whatever form. */
  readonly rule: string
  /** The form of the mistake: a case of the rule. It is the rule's own name where there is only one. */
  readonly code: string
  /** How bad it is, by the preset and the levels of the user. */
  readonly severity: Severity
  /** One sentence; contains text of the document, so sanitize it before showing it. Never contains a secret. */
  readonly message: string
  /** Path or URL of what was read, as the caller named it. */
  readonly document?: string
  /** The `id` of the Item, Collection or Catalog. */
  readonly id?: string
  /** RFC 6901 pointer from the root of what was read. */
  readonly pointer: string
  /** Line of the beginning, from 1; absent for a document without a text. */
  readonly line?: number
  /** Column of the beginning in UTF-16 code units, from 1. */
  readonly column?: number
  /** Line of the end, from 1. */
  readonly endLine?: number
  /** Column behind the end, from 1. */
  readonly endColumn?: number
  /** Present when a fix exists: `safe` keeps the meaning, a `suggestion` needs a look. */
  readonly fix?: 'safe' | 'suggestion'
  /** Names the finding from one edit of the catalog to the next: code, document, place without numbers. Not always unique. */
  readonly fingerprint?: string
  /** How often a report found the same; absent for what was found once. */
  readonly count?: number
  /** The first places of a finding that has a `count`. */
  readonly places?: readonly Place[]
  /** The wrapper or parent that lacks or contains what the finding is about; reports show the finding there. */
  readonly cause?: Cause
}

/** One of the places of a repeated finding. */
export interface Place {
  /** Absent when it is the document of the finding. */
  readonly document?: string
  /** The `id` of that document. */
  readonly id?: string
  /** RFC 6901 pointer from the root of what was read. */
  readonly pointer: string
  /** Line of the beginning, from 1; absent for a document without a text. */
  readonly line?: number
  /** Column of the beginning in UTF-16 code units, from 1. */
  readonly column?: number
}

/** A place outside of a document: in the wrapper around it, or in a document above it. */
export interface Cause {
  /** Absent for the wrapper. */
  readonly document?: string
  /** The `id` of that document. */
  readonly id?: string
  /** RFC 6901 pointer from the root of what was read. */
  readonly pointer: string
  /** Line of the beginning, from 1; absent for a document without a text. */
  readonly line?: number
  /** Column of the beginning in UTF-16 code units, from 1. */
  readonly column?: number
  /** Line of the end, from 1. */
  readonly endLine?: number
  /** Column behind the end, from 1. */
  readonly endColumn?: number
}
