import type { Stop, Visit } from '../../crawl/index.ts'
import type { Problem } from '../../lint/index.ts'
import type { Failure } from '../failure.ts'
import { Findings } from '../findings.ts'
import { type LintOutcome, type LintSettings, NAMES } from '../lint-run.ts'
import { type Definition, Definitions } from './definitions.ts'
import { nameOf } from './name-of.ts'
import { Omissions } from './omissions.ts'
import type { Progress } from './progress.ts'

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
  readonly #omissions = new Omissions()
  readonly #names: string[] = []
  #documents = 0

  constructor(settings: LintSettings, progress: Progress) {
    this.#settings = settings
    this.#findings = new Findings(settings.room, (one, other) => order(one.document, other.document))
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
    this.#findings.add(result.problems)
    this.#definitions.add(name, result.definitions)
    this.progress.add(outcome.documents, outcome.failure !== undefined)
  }

  /** Told once for each name and code. */
  fail(failure: Failure): void {
    this.#omissions.fail(failure)
  }

  outcome(): LintOutcome {
    this.#findings.add(this.#definitions.problems(this.#settings))
    return {
      documents: this.#documents,
      skipped: 0,
      found: this.#findings.found(),
      failures: this.#omissions.failures(),
      texts: new Map(),
      names: this.#names.sort(),
    }
  }
}

function order(one = '', other = ''): number {
  return one < other ? -1 : Number(one > other)
}
