/** Runs `download`. */
import type { Auth } from '../../auth/auth.ts'
import { AuthError, ConfigurationError, isAuthError } from '../../errors.ts'
import {
  type DownloadEvent,
  type DownloadInput,
  type DownloadOptions,
  download,
  type FailedEvent,
  type SourceDocument,
  selectionOptionsOf,
} from '../../node/download/index.ts'
import type { Context } from '../context.ts'
import { Omissions } from '../crawl/omissions.ts'
import { EXIT, exitCodeOf, exitOfFailure, usageError, worstExit } from '../exit-code.ts'
import { type Diagnostics, isBrokenPipe, styleOf, write } from '../io.ts'
import { openAuth } from '../open-auth.ts'
import {
  type AssetOptions,
  type ByAddressOption,
  type CrawlOption,
  type CredentialsOption,
  defined,
  type QuietOption,
  requireCrawl,
} from '../options.ts'
import { type OrderOption, orderingAuth } from '../orders.ts'
import { isBucket, outputFolder } from '../output-folder.ts'
import type { QueueOption } from '../queue/address.ts'
import { providersSetUp, withProviderHint, withSetupHint } from '../setup-hint.ts'
import { bytesText } from '../units.ts'
import { crawledDocuments, givenDocuments, LinkChoice, ReadAgain, targetOfUrl } from './documents.ts'
import { Forecast, type PlanView, printPlan } from './dry-run.ts'
import { FailedFiles } from './failed-files.ts'
import { type Audience, Progress, personAudience, programAudience, quietAudience, summaryTable } from './progress.ts'

export interface DownloadCommandOptions
  extends CredentialsOption,
    ByAddressOption,
    QuietOption,
    OrderOption,
    AssetOptions,
    Omit<CrawlOption, 'resume'> {
  readonly outputDir: string
  readonly link?: string
  readonly minSize?: number
  readonly maxSize?: number
  readonly template?: string
  readonly perHost?: number
  readonly limitRate?: number
  readonly ranges?: number
  readonly retries?: number
  readonly stallTimeout?: number
  readonly existing?: 'keep' | 'refuse' | 'replace'
  readonly rename?: boolean
  readonly maxObjects?: number
  readonly resume: boolean
  readonly reread: boolean
  readonly rewriteHrefs?: boolean
  readonly strict?: boolean
  readonly acceptHtml?: boolean
  readonly trustServer?: boolean
  readonly wait?: number
  readonly verify?: boolean
  readonly manifest?: string
  readonly dryRun?: boolean
  readonly all?: boolean
  readonly json?: boolean
  readonly queue?: QueueOption
}

/**
 * Downloads the assets of the inputs, or of all documents they link to, and returns the exit code.
 *
 * Errors: `USAGE`, `CONFIG_INVALID`, `FILE_ACCESS`, `PATH_UNSAFE`, and `TARGET_NOT_FOUND` when there is nothing to download.
 */
export async function downloadAll(given: readonly string[], options: DownloadCommandOptions, context: Context): Promise<number> {
  const { outputDir, dryRun = false, json = false, crawl = false, all = false } = options
  if (outputDir === '') throw usageError('--output-dir is empty', 'leave the option out to write to the current folder')
  const reach = reachOf(options)
  requireLinkAlone(options)
  const names = given.filter((name) => !isBucket(name))
  const forecast = new Forecast(dryRun)
  const progress = new Progress(forecast)
  const isForPeople = !json && !options.quiet
  const audience = json ? programAudience(context) : options.quiet ? quietAudience(context) : personAudience(context, progress)
  const within: Context = { ...context, diagnostics: audience.diagnostics }
  const omissions = new Omissions()
  const again = new ReadAgain()
  try {
    const opened = openAuth(within, options, given)
    const auth = await opened()
    const documents = crawl
      ? crawledDocuments(names, reach, within, opened, omissions, again.remember)
      : givenDocuments(
          names,
          {
            copies: options.rewriteHrefs ?? false,
            ...(options.shard && { shard: options.shard }),
            fail: (failure) => omissions.fail(failure),
            onRead: again.remember,
          },
          within,
          opened,
        )
    const folder = dryRun ? outputDir : await outputFolder(outputDir)
    const reread = (source: SourceDocument) => again.read(source, context.io, opened)
    const settings = {
      ...libraryOptions(options),
      folder,
      auth: await orderingAuth(auth, options, within, audience.alone),
      signal: context.io.signal,
      ...(options.reread && options.queue === undefined && { reread }),
    }
    const links = new LinkChoice()
    const chosen = options.link === undefined ? documents : links.in(documents, options.link)
    const inputs = forecast.watch(joined(given.filter(isBucket), chosen, opened), await selectionOptionsOf(settings))
    const events =
      options.queue === undefined || dryRun ? download(inputs, settings) : await queued(inputs, settings, options.queue, progress, within)
    const setUp = () => providersSetUp(options, context)
    const exits = dryRun
      ? await printPlan(events, { forecast, auth, json, all, setUp }, within)
      : await perform(events, { audience, progress, names: namesForSetup(names), ...(isForPeople && { folder }), all, setUp }, within)
    return worstExit([...exits, ...(await reportUnread(forecast, omissions, within, () => noLink(options, links)))])
  } finally {
    audience.end()
  }
}

/** The document of the command that advice names; a folder, a list or several inputs are more than one. */
function namesForSetup(names: readonly string[]): readonly string[] {
  return names.length === 1 && /\.(?:geo)?json$|^https?:/i.test(names[0] ?? '') ? names : []
}

/** Yields the targets of URLs, then the documents. */
async function* joined(
  urls: readonly string[],
  documents: AsyncIterable<DownloadInput>,
  auth: () => Promise<Auth>,
): AsyncGenerator<DownloadInput> {
  for (const url of urls) yield await targetOfUrl(url, auth)
  yield* documents
}

/** Options that select assets. */
const OF_ASSETS = ['asset', 'include', 'exclude', 'role', 'type', 'prefer'] as const

/** Errors: `USAGE` for options that select assets beside `--link`. */
function requireLinkAlone(options: DownloadCommandOptions): void {
  const other = options.link === undefined ? undefined : OF_ASSETS.find((name) => options[name] !== undefined)
  if (other !== undefined) throw usageError(`--link and --${other} exclude each other`, 'run the command twice for links and assets')
}

function noLink({ link }: DownloadCommandOptions, { relations }: LinkChoice): ConfigurationError | undefined {
  if (link === undefined) return undefined
  const hint = `the relations are: ${relations.slice(0, 10).join(', ') || 'none'}`
  return new ConfigurationError('TARGET_NOT_FOUND', `nothing to download: no document has a link "${link}"`, { hint })
}

/** Downloads by the workers of a queue. Errors: `USAGE`. */
async function queued(
  inputs: AsyncIterable<DownloadInput>,
  { concurrency, bytesPerSecond, ...settings }: DownloadOptions,
  option: QueueOption,
  progress: Progress,
  context: Context,
): Promise<AsyncIterable<DownloadEvent>> {
  // Each worker has these limits for itself.
  const limit = concurrency !== undefined ? '--concurrency' : bytesPerSecond !== undefined ? '--limit-rate' : undefined
  if (limit !== undefined) {
    const hint = 'use --per-host and --rate, which hold for all workers together'
    throw usageError(`${limit} does not apply to the workers of --queue`, hint)
  }
  const [{ queueUrl }, { downloadByQueue }, { progressOfState }] = await Promise.all([
    import('../queue/address.ts'),
    import('../../node/queue/index.ts'),
    import('../queue/state.ts'),
  ])
  return downloadByQueue(inputs, { ...settings, queue: queueUrl(option, context), onState: progressOfState(progress, context.diagnostics) })
}

interface Performance {
  readonly audience: Audience
  readonly progress: Progress
  /** The document to set up where a credential is missing or refused, if there is one. */
  readonly names?: readonly string[]
  /** The folder that the summary names; absent where no summary is printed. */
  readonly folder?: string
  readonly all: boolean
  readonly setUp: PlanView['setUp']
}

/** Processes all events, reports failures and returns the exit codes. */
export async function perform(
  events: AsyncIterable<DownloadEvent>,
  { audience, progress, names = [], folder, all, setUp }: Performance,
  { io, diagnostics }: Context,
): Promise<readonly number[]> {
  const failed = new FailedFiles({ all })
  const advised = ({ error, file: { url } }: FailedEvent) =>
    withProviderHint(withSetupHint(error, names), { url, context: progress.forecast.context }, setUp)
  let interrupted: AuthError | undefined
  try {
    for await (const given of events) {
      const event = given.kind === 'failed' ? { ...given, error: await advised(given) } : given
      progress.add(event)
      progress.forecast.atLeast(progress.planned)
      if (event.kind === 'failed' && event.error.code !== 'ABORTED') failed.fail(event)
      else if (event.kind === 'document') failed.failCopy(event)
      else if (event.kind === 'warning') failed.warn(event)
      if (!(await isHeard(audience.hear(event))) && event.kind !== 'summary') return [EXIT.interrupted]
    }
  } catch (error) {
    if (!isAuthError(error) || error.code !== 'ABORTED') throw error
    interrupted = interruption(progress)
  }
  audience.end()
  await failed.tell(diagnostics)
  if (progress.planned > 0 && folder !== undefined) await isHeard(write(io.stdout, summaryTable(progress, folder, styleOf(io, io.stdout))))
  if (interrupted) await diagnostics.error(interrupted)
  else await reportRemaining(progress, diagnostics)
  return [...failed.exits(), ...(interrupted ? [exitCodeOf(interrupted.code)] : [])]
}

/** Returns false if the output is closed: the download stops then. */
async function isHeard(telling: Promise<void> | void): Promise<boolean> {
  try {
    await telling
    return true
  } catch (error) {
    if (!isBrokenPipe(error)) throw error
    return false
  }
}

/** Reports how many files were not started, as on a full disk. */
async function reportRemaining({ finished, forecast: { files, isComplete } }: Progress, diagnostics: Diagnostics): Promise<void> {
  const more = isComplete ? '' : '+'
  if (files > finished) await diagnostics.note(`not started: ${files - finished}${more} of ${files}${more} files`)
}

function interruption({ written, kept, resumable, forecast: { files, isComplete } }: Progress): AuthError {
  const part = resumable > 0 ? `, and ${bytesText(resumable)} of incomplete files` : ''
  const hint = `complete: ${written.files + kept.files} of ${files}${isComplete ? '' : '+'} files${part}; run the same command to resume`
  return new AuthError('ABORTED', 'interrupted', { hint })
}

/** Reports unread documents and returns the exit codes. Errors: `TARGET_NOT_FOUND` if there was nothing to download. */
async function reportUnread(
  forecast: Forecast,
  omissions: Omissions,
  { io, diagnostics }: Context,
  noneChosen: () => ConfigurationError | undefined,
): Promise<readonly number[]> {
  const failures = omissions.failures()
  for (const { error, exit } of failures) {
    if (exit === EXIT.done) diagnostics.warn(error)
    else await diagnostics.error(error)
  }
  const exits = failures.map((failure) => exitOfFailure(failure, io.signal))
  if (forecast.files > 0 || io.signal.aborted || worstExit(exits) !== EXIT.done) return exits
  throw (forecast.documents === 0 ? noneChosen() : undefined) ?? nothing(forecast)
}

function nothing({ documents, keys }: Forecast): ConfigurationError {
  const [why, hint] =
    documents === 0
      ? ['the inputs contain no documents', 'give a STAC document, a folder with some, a glob, a URL, or - for stdin']
      : keys.length === 0
        ? ['no document has an asset']
        : ['no asset matches the options', `the assets are: ${keys.join(', ')}; --include matches their file names, too`]
  return new ConfigurationError('TARGET_NOT_FOUND', `nothing to download: ${why}`, hint === undefined ? {} : { hint })
}

/** Options that the library has under the same name. */
const SAME = [
  'template',
  'concurrency',
  'perHost',
  'rate',
  'ranges',
  'retries',
  'existing',
  'resume',
  'strict',
  'acceptHtml',
  'trustServer',
  'verify',
  'manifest',
  'dryRun',
  'maxObjects',
] as const

/** Converts the options of the command line to those of the library. */
function libraryOptions(options: DownloadCommandOptions): Omit<DownloadOptions, 'folder' | 'auth' | 'signal'> {
  const { asset: keys, include, exclude, role: roles, type: types, minSize, maxSize, stallTimeout, wait } = options
  const same = Object.fromEntries(SAME.map((name) => [name, options[name]])) as Pick<DownloadCommandOptions, (typeof SAME)[number]>
  return defined({
    ...same,
    alternates: options.prefer,
    bytesPerSecond: options.limitRate,
    documents: options.rewriteHrefs,
    assets: defined({ keys, include, exclude, roles, types, minSize, maxSize }),
    collisions: options.rename ? ('rename' as const) : undefined,
    stallTimeout: stallTimeout === undefined ? undefined : stallTimeout * 1000,
    wait: wait === undefined ? undefined : wait * 1000,
  })
}

/** Returns the options of the crawl. Errors: `USAGE` for options that need `--crawl`. */
function reachOf(options: DownloadCommandOptions): CrawlOption {
  const { perHost, rate, resume: _resume, reread: _reread, concurrency: _files, ...reach } = options
  requireCrawl(reach)
  return defined({ ...reach, rate, perHost })
}
