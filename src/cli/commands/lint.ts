import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { requireBaseline, withBaseline } from '../lint-baseline.ts'
import { type ReportingOptions, withReportingOptions } from '../lint-options.ts'
import { openAuth } from '../open-auth.ts'
import { type CredentialsOption, withCredentialsOption } from '../options.ts'
import { usageError } from '../usage.ts'

interface LintOptions extends CredentialsOption, ReportingOptions {
  readonly stdinFilename: string
  readonly failOnUnmatchedGlobs: boolean
}

/** `lint [INPUT…]`: what is wrong with documents. */
export function addLint(program: Command, context: Context): void {
  const command = program
    .command('lint [inputs...]')
    .description('find what is wrong with files, folders, globs, addresses or standard input (-)')
  withReportingOptions(withCredentialsOption(command))
    .option('--no-fail-on-unmatched-globs', 'let a glob match nothing')
    .option('--stdin-filename <name>', 'what standard input is called in findings', '-')
    .action(context.run((inputs: string[], options: LintOptions) => lint(inputs, options, context)))
}

async function lint(inputs: readonly string[], options: LintOptions, context: Context): Promise<number> {
  if (inputs.length === 0) throw usageError('nothing to lint', 'give files, folders, addresses, or - for standard input')
  requireBaseline(options)
  const { destinationsOf, exitOf, publish, wantsFingerprints } = await import('../lint-report.ts')
  const destinations = destinationsOf(options)
  const { lintAll, requireRules, settingsOf } = await import('../lint-run.ts')
  requireRules(options.rule ?? {})
  const settings = await settingsOf(options, options.baseline !== undefined || wantsFingerprints(destinations), context.io)
  const outcome = await lintAll(inputs, settings, context.io, openAuth(context, options, inputs))
  if (outcome.documents === 0 && outcome.failures.length === 0) throw usageError(`nothing to lint: no documents in ${inputs.join(', ')}`)
  const fresh = await withBaseline(outcome, options, context)
  await publish(outcome, fresh, destinations, options, context, 'stdout')
  for (const { error } of outcome.failures) await context.diagnostics.error(error)
  return exitOf(outcome, fresh, options, context)
}
