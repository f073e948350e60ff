/** Crawls from the inputs and lints what it finds. */
import type { Auth } from '../../auth/auth.ts'
import { crawlInto, type Sink } from '../../crawl/index.ts'
import { isAuthError } from '../../errors.ts'
import type { Levels } from '../../lint/index.ts'
import type { Context } from '../context.ts'
import type { LintOutcome, LintSettings } from '../lint-run.ts'
import { localLinter } from '../linter.ts'
import { version } from '../version.ts'
import { Collected, type Result } from './collected.ts'
import { definitionsIn } from './definitions.ts'
import { foreignNext } from './foreign-next.ts'
import { Journal } from './journal.ts'
import { type CrawlOption, crawlSettings } from './options.ts'
import { Progress } from './progress.ts'
import { sendFrom, startsOf } from './starts.ts'
import { problemsOf } from './visits.ts'

/** Lints every document that the inputs lead to. What could not be read, and what was left out, is in `failures`. */
export async function crawlAll(
  inputs: readonly string[],
  options: CrawlOption & { readonly rule?: Levels },
  lint: LintSettings,
  { io, diagnostics }: Context,
  auth: () => Promise<Auth>,
): Promise<LintOutcome> {
  const settings = { ...crawlSettings(options), visit: originsOf(lint) }
  const { start, failures } = await startsOf(inputs)
  const collected = new Collected(lint, new Progress(io))
  for (const failure of failures) collected.fail(failure)
  if (start.length === 0) return collected.outcome()
  const { concurrency: _faster, rate: _slower, userAgent: _name, ...matters } = settings
  const { config } = lint.levels
  const fingerprints = lint.complete !== undefined
  const journal =
    options.resume === undefined
      ? undefined
      : await Journal.open<Result>(options.resume, { start, matters, config, rule: options.rule, fingerprints, version: version() })
  const linter = lint.linter ?? localLinter(lint.complete)
  const sink: Sink<Result> = journal ?? FORGETFUL
  try {
    await crawlInto(
      sink,
      { ...settings, start, send: sendFrom(start, auth), signal: io.signal, isFull: () => linter.isFull() },
      async (visit) => {
        const warning = options.crossOrigin ? await foreignNext(visit, auth) : undefined
        if (warning) diagnostics.warn(warning)
        const problems = await problemsOf(visit, lint, linter)
        return { problems, definitions: visit.mine && visit.document ? definitionsIn(visit.document) : [] }
      },
      (told) => collected.add(told),
    )
    journal?.complete()
  } catch (error) {
    // An interruption, a full disk, a queue that has gone: what there is so far is reported, and that it is not all.
    if (!isAuthError(error)) throw error
    collected.fail({ name: inputs[0] ?? '', error })
  } finally {
    journal?.close()
    collected.progress.end()
  }
  return collected.outcome()
}

/** Without a state there is nothing to resume from, and each job comes once. */
const FORGETFUL: Sink<Result> = { put: () => {}, get: () => undefined }

/** Origins that the configuration lets a crawl visit; it grants nothing to them. */
function originsOf({ levels }: LintSettings): readonly string[] {
  return (levels.config.origins ?? []).flatMap((origin) => (URL.canParse(origin) ? [new URL(origin).origin] : []))
}
