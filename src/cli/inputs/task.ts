/** What the linter looks at in one go, as plain data: it may be judged here or by another process. */
import { lint, lintText, type Problem, type TextOptions } from '../../lint/index.ts'
import type { StacDocument } from '../../stac/document.ts'

/** A text as it was read, or a value that never had one. */
export interface Task {
  /** The text of a document, of a list of documents, or of a line. */
  readonly text?: string | Uint8Array
  /** Line of its file on which the text begins. */
  readonly line?: number
  /** A row, the members around features, a list of children: parsed, so there are no positions. */
  readonly value?: unknown
  /** The address that answered. */
  readonly url?: string
  /** Documents that may lend their schemes, nearest first. */
  readonly parents?: readonly StacDocument[]
}

/** The findings of a task, in its own terms. */
export function judge({ text, value, line, url, parents }: Task, options: TextOptions): readonly Problem[] {
  const all = { ...options, ...(url !== undefined && { url }), ...(parents && { parents }), ...(line !== undefined && { line }) }
  return text === undefined ? lint(value, all) : lintText(text, all)
}
