/** A unit of work of the linter, as plain data, for this process or a worker. */
import { lint, lintText, type Problem, type TextOptions } from '../../lint/index.ts'
import type { StacDocument } from '../../stac/document.ts'

/** A text, or a parsed value without text. */
export interface Task {
  /** The text of a document, of a list of documents, or of a line. */
  readonly text?: string | Uint8Array
  /** Line of its file on which the text begins. */
  readonly line?: number
  /** A parsed value without positions: a row, a wrapper without features, a list of children. */
  readonly value?: unknown
  /** The final URL. */
  readonly url?: string
  /** Parent documents that may define schemes, nearest first. */
  readonly parents?: readonly StacDocument[]
}

/** Lints a task; pointers and lines are those of the task. */
export function lintTask({ text, value, line, url, parents }: Task, options: TextOptions): readonly Problem[] {
  const all = { ...options, ...(url !== undefined && { url }), ...(parents && { parents }), ...(line !== undefined && { line }) }
  return text === undefined ? lint(value, all) : lintText(text, all)
}
