import type { Stop, Visit } from '../../crawl/index.ts'
import type { Problem } from '../../lint/index.ts'
import { Repeats, withoutRepeats } from '../../lint/repeated.ts'
import type { Failure } from '../failure.ts'
import { byDocument, Findings, inOrder } from '../findings.ts'
import { type LintOutcome, type LintSettings, NAMES } from '../lint-run.ts'
import { type Definition, Definitions } from './definitions.ts'
import { nameOf } from './name-of.ts'
import { Omissions } from './omissions.ts'
import type { Progress } from './progress.ts'
import { levelOf } from './run-rules.ts'

/** What is kept of a visit. */
export interface Result {
  readonly problems: readonly Problem[]
  readonly definitions: readonly Definition[]
}

/** What a crawl has seen so far, and the outcome that becomes of it: the same in whatever order it came. */
export class Collected {
  readonly progress: Progress
  readonly #settings: LintSettings
  readonly #findings: Findings
  readonly #definitions = new Definitions()
  /** Findings about schemes that documents above lend. */
  readonly #lent = new Repeats(byDocument)
  /** What a baseline has to judge when the order of the documents is known. */
  readonly #unjudged: Problem[] = []
  readonly #omissions = new Omissions()
  readonly #names: string[] = []
  #documents = 0

  constructor(settings: LintSettings, progress: Progress) {
    this.#settings = settings
    this.#findings = new Findings(settings.room, inOrder)
    this.progress = progress
  }

  add(told: { readonly visit: Visit; readonly result: Result } | Stop): void {
    this.#omissions.add('visit' in told ? told.visit : told)
    if (!('visit' in told)) return
    const { visit, result } = told
    const { outcome, mine, job } = visit
    const name = nameOf(job.url)
    if (mine && outcome.documents > 0) {
      this.#documents += outcome.documents
      if (this.#names.length < NAMES) this.#names.push(name)
    }
    if (this.#settings.baseline) this.#unjudged.push(...result.problems)
    else this.#report(result.problems)
    const level = levelOf('conflicting-scheme', name, this.#settings)
    for (const definition of result.definitions) this.#definitions.add({ ...definition, document: name, level })
    this.progress.add(outcome.documents, outcome.failure !== undefined)
  }

  /** Findings of whole documents, in their order. */
  #report(problems: readonly Problem[]): void {
    this.#lent.add(problems.filter(isLent))
    const same = problems.filter((problem) => !isLent(problem))
    let start = 0
    for (let end = 1; end <= same.length; end++) {
      if (same[end]?.document === same[start]?.document && end < same.length) continue
      this.#findings.add(withoutRepeats(same.slice(start, end)))
      start = end
    }
  }

  /** Told once for each name and code. */
  fail(failure: Failure): void {
    this.#omissions.fail(failure)
  }

  outcome(): LintOutcome {
    const different = this.#definitions.problems(this.#settings.complete)
    if (this.#settings.baseline) this.#report(this.#settings.baseline.news([...this.#unjudged.sort(inOrder), ...different]))
    else this.#findings.add(different)
    this.#findings.add(this.#lent.take())
    return {
      documents: this.#documents,
      skipped: 0,
      found: this.#findings.found(),
      failures: this.#omissions.failures(),
      texts: new Map(),
      names: this.#names.sort(),
      definitions: this.#definitions.all(),
    }
  }
}

function isLent({ cause }: Problem): boolean {
  return cause?.document !== undefined
}
