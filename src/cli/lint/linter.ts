/** Where documents are judged: here, one after the other, or by other processes. */
import { type Levels, LintRun, type Preset, type Problem, type TextOptions } from '../../lint/index.ts'
import type { JsonObject } from '../../stac/json.ts'
import { judge, type Task } from '../inputs/task.ts'

/** What was found in a task. */
export interface Judged {
  readonly problems: readonly Problem[]
  /** Schemes that are to be compared with those of the tasks before it; absent when that is done. */
  readonly definitions?: readonly Defined[]
}

/** A scheme that was defined, in the order of the documents. */
export interface Defined {
  readonly name: string
  readonly scheme: JsonObject
  /** What its document is called. */
  readonly where: string
}

export interface Linter {
  /** Judges one task of a document. Errors: `ABORTED`, and that the judging process cannot be reached. */
  lint(task: Task, about: About): Judged | Promise<Judged>
  /** True when results are to be taken before more is asked. */
  isFull(): boolean
  close(): Promise<void>
}

/** A document and the rules for it. */
export interface About {
  readonly document: string
  readonly preset: Preset
  readonly rules: Levels
}

/** Judges at once. With `run`, documents are compared with each other. */
export function localLinter(complete: TextOptions['complete'], run?: LintRun): Linter {
  return {
    lint: (task, about) => ({ problems: judge(task, { ...about, complete, ...(run && { run }) }) }),
    isFull: () => true,
    close: async () => {},
  }
}

/** Stands in a message where the document will be named that said otherwise. */
const PLACE = /\u0001(\d+)/

/** Notes each definition once instead of comparing it, so that who knows the other documents can do that. */
export class RecordingRun extends LintRun {
  readonly #seen = new Set<string>()
  #definitions: Defined[] = []

  override otherDefinition(name: string, scheme: JsonObject, where: string): string | undefined {
    const key = JSON.stringify([name, scheme])
    if (this.#seen.has(key)) return undefined
    this.#seen.add(key)
    this.#definitions.push({ name, scheme, where })
    return `\u0001${this.#definitions.length - 1}`
  }

  /** The definitions since it was asked last. */
  take(): readonly Defined[] {
    const taken = this.#definitions
    this.#definitions = []
    return taken
  }
}

/** Compares the definitions of a task with those before it, and keeps what that leaves of the findings. */
export function compared({ problems, definitions }: Judged, run: LintRun): readonly Problem[] {
  if (!definitions) return problems
  const others = definitions.map(({ name, scheme, where }) => run.otherDefinition(name, scheme, where))
  return problems.flatMap((problem) => {
    const [place, index] = (problem.code === 'conflicting-scheme' && PLACE.exec(problem.message)) || []
    if (place === undefined) return [problem]
    const other = others[Number(index)]
    return other === undefined ? [] : [{ ...problem, message: problem.message.replace(place, () => other) }]
  })
}
