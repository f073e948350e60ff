/** Remembers the findings of texts, so that a text is not linted again while it and the rules are the same. */
import { hash } from 'node:crypto'
import type { TextOptions } from '../../lint/lint.ts'
import type { Task } from '../inputs/pieces.ts'
import { type Linter, type LintResult, recorded, type TaskRules } from './linter.ts'

/** What is known of a text of a document. */
interface Remembered {
  result?: LintResult
}

/** Names of documents, by what became of them since the run before. */
export interface Changes {
  readonly changed: readonly string[]
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

/** A linter in this process that remembers the texts of one run for the next one. The rules must be the same in both. */
export class LintMemory implements Linter {
  readonly #options: Pick<TextOptions, 'complete' | 'isShown'>
  /** By document, line and hash of the text: those of the run before, and those of this run. */
  #before: ReadonlyMap<string, Remembered> = new Map()
  #now = new Map<string, Remembered>()

  constructor(options: Pick<TextOptions, 'complete' | 'isShown'>) {
    this.#options = options
  }

  lint(task: Task, about: TaskRules): LintResult {
    const known = this.#of(task, about.document)
    if (!known) return recorded(task, { ...about, ...this.#options })
    known.result ??= recorded(task, { ...about, ...this.#options })
    return known.result
  }

  isFull(): boolean {
    return true
  }

  async close(): Promise<void> {}

  /** Ends a run: returns what changed since the one before. */
  next(): Changes {
    const [before, now] = [linted(this.#before), linted(this.#now)]
    const isNew = ([document, keys]: [string, readonly string[]]) => keys.join() !== before.get(document)?.join()
    const changed = [...now].filter(isNew).map(([document]) => document)
    this.#before = this.#now
    this.#now = new Map()
    return {
      changed: changed.filter((document) => before.has(document)),
      added: changed.filter((document) => !before.has(document)),
      removed: [...before.keys()].filter((document) => !now.has(document)),
    }
  }

  #of(task: Task, document: string): Remembered | undefined {
    const { text, line = 1, parents } = task
    if (text === undefined || parents) return undefined
    const key = `${document}\n${line}\n${hash('sha256', text, 'base64url')}`
    const known = this.#now.get(key) ?? this.#before.get(key) ?? {}
    this.#now.set(key, known)
    return known
  }
}

/** Returns the keys of the texts of each document that was linted. */
function linted(texts: ReadonlyMap<string, Remembered>): ReadonlyMap<string, readonly string[]> {
  const documents = new Map<string, string[]>()
  for (const [key, { result }] of texts) {
    if (!result || result.isForeign) continue
    const document = key.split('\n', 1)[0] ?? ''
    const keys = documents.get(document)
    if (keys) keys.push(key)
    else documents.set(document, [key])
  }
  return documents
}
