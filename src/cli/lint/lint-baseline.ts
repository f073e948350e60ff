/** The baseline file of `lint`: known findings are counted, not listed. */
import { stat } from 'node:fs/promises'
import { ConfigurationError, IntegrityError } from '../../errors.ts'
import { type Baseline, Comparison, isBaseline } from '../../lint/baseline.ts'
import { Totals } from '../../lint/reporters/report.ts'
import { replaceFile, type Seen, seenFile, systemCode } from '../../node/base/index.ts'
import { forJson } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { jsonIn, readInput } from '../read-document.ts'
import type { FoundProblems } from './collector.ts'
import type { BaselineOptions } from './lint-options.ts'
import type { LintOutcome } from './lint-run.ts'

/** The findings to report, and the number in the baseline. */
export interface Fresh extends FoundProblems {
  readonly baselined?: number
}

/** The baseline of a run. */
export class RunBaseline {
  /** Compares the findings of the run. */
  readonly comparison: Comparison
  readonly #options: BaselineOptions
  readonly #file: string
  readonly #seen: Seen | undefined
  /** The error of reading a baseline that is to be replaced. */
  readonly #error: unknown

  private constructor(options: BaselineOptions, file: string, seen: Seen | undefined, read: Baseline | { readonly error: unknown }) {
    this.comparison = new Comparison('error' in read ? { version: 1, findings: {} } : read)
    this.#options = options
    this.#file = file
    this.#seen = seen
    this.#error = 'error' in read ? read.error : undefined
  }

  /**
   * Reads the baseline of the options, if any. Errors: `CONFIG_INVALID` for a malformed baseline,
   * `FILE_ACCESS`.
   */
  static async open(options: BaselineOptions, context: Context): Promise<RunBaseline | undefined> {
    const { baseline: file, updateBaseline } = options
    if (file === undefined) return undefined
    const seen = await seenFile(file)
    if (updateBaseline && !seen) return new RunBaseline(options, file, seen, { version: 1, findings: {} })
    const read = await readBaseline(file, context).catch((error: unknown) => ({ error }))
    if ('error' in read && !updateBaseline) throw read.error
    return new RunBaseline(options, file, seen, read)
  }

  /**
   * Returns the findings to report, and updates or prunes the baseline if requested. An incomplete run does not write the baseline.
   *
   * Errors: those of `replaceFile`, and those of `open` if the baseline cannot be updated.
   */
  async settle({ found, failures }: LintOutcome, { diagnostics }: Context): Promise<Fresh> {
    const { updateBaseline = false, pruneBaseline = false, isPart = false } = this.#options
    const { comparison } = this
    const isWhole = failures.length === 0
    if (!isWhole && this.#error !== undefined) throw this.#error
    if (!isWhole && (updateBaseline || pruneBaseline))
      await diagnostics.note(`"${this.#file}" is unchanged: not every document could be read`)
    else if (updateBaseline) {
      await replaceFile(this.#file, textOf(comparison.updated()), this.#seen)
      return { problems: [], totals: new Totals().summary(), unlisted: 0, baselined: comparison.total }
    } else if (pruneBaseline) await replaceFile(this.#file, textOf(comparison.pruned()), this.#seen)
    const gone = comparison.gone()
    if (gone.length > 0 && isWhole && !isPart) await diagnostics.note(goneText(gone, this.#file, pruneBaseline))
    return { ...found, baselined: comparison.known }
  }
}

async function readBaseline(file: string, { io }: Context): Promise<Baseline> {
  // The first run of a build has no baseline yet.
  if (file !== '-' && (await stat(file).catch(systemCode)) === 'ENOENT') {
    throw new IntegrityError('FILE_ACCESS', `cannot read "${file}": no such file or folder`, {
      hint: 'check its name; add --update-baseline to record the present findings in it',
    })
  }
  const baseline = jsonIn(await readInput(file, io))
  if (isBaseline(baseline)) return baseline
  throw new ConfigurationError('CONFIG_INVALID', `"${file}" is not a baseline of version 1`, {
    hint: 'use --update-baseline to write a new one',
  })
}

function textOf(baseline: Baseline): string {
  return `${forJson(baseline, 2)}\n`
}

const SHOWN = 10

/** A run over fewer documents does not find the findings of the others: they are listed before and after they are removed. */
function goneText(gone: readonly string[], file: string, isPruned: boolean): string {
  const title = isPruned
    ? `removed from "${file}", because this run did not find them:`
    : `this run did not find these findings of the baseline; if they are fixed, use --prune-baseline to remove them from "${file}":`
  const lines = gone.slice(0, SHOWN).map((name) => `  ${name}`)
  const more = gone.length > SHOWN ? [`  … and ${gone.length - SHOWN} more`] : []
  return [title, ...lines, ...more].join('\n')
}
