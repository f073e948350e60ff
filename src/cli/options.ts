/** Options that several commands share: of targets, credentials and crawls, and the targets they select. */

import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Auth } from '../auth/auth.ts'
import type { CrawlLimits, CrawlManners } from '../crawl/settings.ts'
import { type AuthError, ConfigurationError } from '../errors.ts'
import { isObject, own, ownString, type StacDocument } from '../stac/document.ts'
import { findAlternate, findAsset, linkOf, type Target, type TargetOptions } from '../stac/target.ts'
import { forLine } from '../text/sanitize.ts'
import { shellWord } from '../text/shell-word.ts'
import { nearMiss } from '../text/suggest.ts'
import type { Context } from './context.ts'
import { usageError } from './exit-code.ts'
import { type Io, version } from './io.ts'
import { type ReadDocument, readDocument } from './read-document.ts'
import { aligned, bytesText } from './units.ts'

/** The end of the description of a repeatable option. */
const REPEATABLE = '(repeatable)'

interface TargetChoice {
  readonly asset?: string
  readonly alternate?: string
  readonly link?: string
}

export interface CredentialsOption {
  readonly credentials?: string
}

export interface ByAddressOption {
  readonly byAddress?: boolean
}

/** Which target is requested, and with which credentials. */
export interface TargetRequestOptions extends TargetChoice, CredentialsOption, ByAddressOption {}

/** Adds options under a heading of the help text. */
export function inOptionGroup(command: Command, heading: string, add: (command: Command) => Command): Command {
  const before = command.optionsGroup()
  add(command.optionsGroup(heading))
  return command.optionsGroup(before)
}

/** Adds the options of {@link TargetRequestOptions}. */
export function withTargetRequestOptions(command: Command): Command {
  withTargetOptions(command, (group) => group.option('--asset <key>', 'select the asset with this key'))
  return withByAddressOption(withCredentialsOption(command))
}

/** Adds `--asset` by the function, `--alternate` and `--link`. */
export function withTargetOptions(command: Command, addAsset: (command: Command) => Command): Command {
  return inOptionGroup(command, 'Target:', (group) =>
    addAsset(group)
      .option('--alternate <key/name>', 'select an alternate asset by asset key and alternate name')
      .option('--link <rel>', 'select the first link with this relation; REL#n the n-th, from 0'),
  )
}

/** Adds `--credentials`. */
export function withCredentialsOption(command: Command): Command {
  return inOptionGroup(command, 'Credentials:', (group) =>
    group.option(
      '--credentials <file>',
      "read this credential file (default: STAC_AUTH_CREDENTIALS, then the user's configuration folder)",
    ),
  )
}

export interface QuietOption {
  readonly quiet?: boolean
}

/** Adds `--quiet`. */
export function withQuietOption(command: Command): Command {
  return command.option('--quiet', 'print no progress and no summary, only errors and warnings')
}

/** Returns the diagnostics of a command: without notes if `--quiet` is given. */
export function diagnosticsFor({ diagnostics }: Pick<Context, 'diagnostics'>, { quiet = false }: QuietOption): Context['diagnostics'] {
  return quiet ? { ...diagnostics, note: async () => {} } : diagnostics
}

/** Adds `--by-address`. */
export function withByAddressOption(command: Command): Command {
  return inOptionGroup(command, 'Credentials:', (group) =>
    group.option('--by-address', 'use the credential whose sendTo allows the URL for targets without auth:refs'),
  )
}

/** Which assets of documents are selected. */
export interface AssetOptions {
  readonly asset?: readonly string[]
  readonly include?: readonly string[]
  readonly exclude?: readonly string[]
  readonly role?: readonly string[]
  readonly type?: readonly string[]
  readonly prefer?: readonly string[]
}

/** Adds the options of {@link AssetOptions}; `verb` is what the command does with the assets. */
export function withAssetOptions(command: Command, verb: string): Command {
  return withAssetFilters(command.option('--asset <key>', `${verb} assets whose key matches this glob: B0* (repeatable)`, collect), verb)
}

/** Adds the options of {@link AssetOptions} but `--asset`. */
export function withAssetFilters(command: Command, verb: string): Command {
  return command
    .option('--include <glob>', `${verb} assets whose key or file name matches: *.jp2 (repeatable)`, collect)
    .option('--exclude <glob>', 'skip assets whose key or file name matches: *.xml (repeatable)', collect)
    .option('--role <role>', `${verb} assets with this role (repeatable)`, collect)
    .option('--type <media-type>', `${verb} assets with this media type: image/* (repeatable)`, collect)
    .option('--prefer <alternate>', 'prefer alternates with this name over the asset (repeatable)', collect)
}

/** Returns the error for a command without inputs. The URL of `--queue` may be absent, so the first input after it is taken for the URL. */
export function noInputs(command: 'lint' | 'download', { queue }: { readonly queue?: string | boolean }): ConfigurationError {
  const isInput = typeof queue === 'string' && !/^rediss?:/.test(queue)
  const hint = isInput ? `"${queue}" was read as the URL of --queue: put -- before the inputs` : 'give files, folders, URLs, or - for stdin'
  return usageError(`nothing to ${command}`, hint)
}

/** Removes undefined members. */
export function defined<T extends object>(given: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  }
}

/** Adds a value of a repeatable option. */
export function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text]
}

/** Refuses repeated options of a command and its subcommands, except {@link REPEATABLE} ones. Errors while parsing: `USAGE`. */
export function refuseRepeats(command: Command): void {
  for (const option of command.options) {
    let given = 0
    if (!option.required || option.description.endsWith(REPEATABLE)) continue
    command.on(`option:${option.name()}`, () => {
      if (++given > 1) throw usageError(`${option.long} is given twice`)
    })
  }
  for (const below of command.commands) refuseRepeats(below)
}

/** Returns true if a target option is given. Errors: `USAGE` for more than one. */
export function isChosen(choice: TargetChoice): boolean {
  const given = [choice.asset, choice.alternate, choice.link].filter((value) => value !== undefined)
  if (given.length > 1) throw usageError('--asset, --alternate and --link exclude each other')
  return given.length === 1
}

/** Returns the target that the options select. Errors: `USAGE` for none or several options, `TARGET_NOT_FOUND`. */
export function chosenTarget(document: StacDocument, choice: TargetChoice, options: TargetOptions): Target {
  if (!isChosen(choice)) throw noTarget(document)
  const target =
    choice.asset !== undefined
      ? findAsset(document, choice.asset, options)
      : choice.alternate !== undefined
        ? alternateNamed(document, choice.alternate, options)
        : linkNamed(document, choice.link ?? '', options)
  return target ?? notFound(document, choice)
}

/** Splits at the last slash that leaves an existing asset key, because asset keys may contain slashes. */
function alternateNamed(document: StacDocument, name: string, options: TargetOptions): Target | undefined {
  for (let slash = name.lastIndexOf('/'); slash >= 0; slash = slash > 0 ? name.lastIndexOf('/', slash - 1) : -1) {
    const key = name.slice(0, slash)
    if (own(own(document, 'assets'), key) !== undefined) return findAlternate(document, key, name.slice(slash + 1), options)
  }
  return undefined
}

/** Returns the link of `REL` or `REL#n`. Tries the full name first, because a relation may itself end in `#` and digits. */
export function linkNamed(document: StacDocument, name: string, options: TargetOptions): Target | undefined {
  const [, rel, index] = /^(.*)#(\d+)$/s.exec(name) ?? []
  const link = linkOf(document, name, options)
  return link ?? (rel === undefined ? undefined : linkOf(document, rel, { ...options, index: Number(index) }))
}

const NO_TARGET = 'no target is selected: give --asset KEY, --alternate KEY/NAME or --link REL'

/** Returns the error for a document without a target option; its hint lists the assets. */
function noTarget(document: StacDocument): AuthError {
  const present = Object.entries(assets(document))
  const [first] = present
  if (!first) return usageError(NO_TARGET)
  const lines = aligned(present.slice(0, MOST_ROWS).map(([key, asset]) => assetRow(key, asset))).map((line) => `  ${line}`)
  const more = present.length > MOST_ROWS ? [`  … (${present.length} in all)`] : []
  return usageError(NO_TARGET, ['the assets are:', ...lines, ...more, `for example --asset ${shellName(first[0])}`].join('\n'))
}

const MOST_ROWS = 50

/** Key, media type, size and references of an asset, and the names of its alternates. */
function assetRow(key: string, asset: unknown): string[] {
  const refs = own(asset, 'auth:refs')
  const size = own(asset, 'file:size')
  const named = Object.keys(own(asset, 'alternate') ?? {})
  return [
    forLine(key),
    forLine(ownString(asset, 'type') ?? '-'),
    typeof size === 'number' ? bytesText(size) : '-',
    [
      ...(Array.isArray(refs) && refs.length > 0 ? [`refs ${forLine(refs.map(String).join(', '))}`] : []),
      ...(named.length > 0 ? [`alternates ${forLine(named.join(', '))}`] : []),
    ].join('; '),
  ]
}

function shellName(key: string): string {
  return /^[\w.,:/@%+-]+$/.test(key) ? key : shellWord(forLine(key))
}

function notFound(document: StacDocument, { asset, alternate, link }: TargetChoice): never {
  const [kind, name] = asset !== undefined ? ['asset', asset] : alternate !== undefined ? ['alternate asset', alternate] : ['link', link]
  const present = kind === 'link' ? relations(document) : kind === 'asset' ? Object.keys(assets(document)) : alternates(document)
  const list = present.slice(0, 10).join(', ') + (present.length > 10 ? `, … (${present.length} in all)` : '')
  const what = kind === 'link' ? 'the relations are' : kind === 'asset' ? 'the assets are' : 'give KEY/NAME; the alternate assets are'
  const near = nearMiss(name ?? '', present)
  throw new ConfigurationError('TARGET_NOT_FOUND', `the document has no ${kind} "${name}"`, {
    hint: `${near === undefined ? '' : `did you mean "${near}"? `}${what}: ${list || 'none'}`,
  })
}

function assets(document: StacDocument): object {
  const found = own(document, 'assets')
  return isObject(found) ? found : {}
}

/** Alternate assets as they are given on the command line. */
function alternates(document: StacDocument): string[] {
  return Object.entries(assets(document)).flatMap(([key, asset]) =>
    Object.keys(own(asset, 'alternate') ?? {}).map((name) => `${key}/${name}`),
  )
}

/** Returns the relations of the links of a document. */
export function relations(document: StacDocument): string[] {
  const links = own(document, 'links')
  return Array.isArray(links) ? [...new Set(links.flatMap((link) => ownString(link, 'rel') ?? []))] : []
}

/** The form of a number, the value of its text, and the range as the error states it. */
interface NumberForm {
  readonly pattern: RegExp
  /** Factors of the units that may follow the number. */
  readonly units?: Readonly<Record<string, number>>
  readonly what: string
  readonly least: number
  readonly most: number
}

/** Returns a parser of numbers; with units, of whole ones. */
function numberOption({ pattern, units, what, least, most }: NumberForm): (text: string) => number {
  return (text) => {
    const [, number, unit = ''] = pattern.exec(text) ?? []
    const value = units ? Math.round(Number(number) * (units[unit.toLowerCase()] ?? 0)) : Number(number)
    if (value >= least && value <= most) return value
    throw new InvalidArgumentError(`it must be ${what}`)
  }
}

/** Returns a parser of whole numbers. */
export function wholeFrom(least: number, most = 999_999_999): (text: string) => number {
  return numberOption({ pattern: /^(\d+)$/, what: `a whole number from ${least} to ${most}`, least, most })
}

/** Parses a port number. */
export const portNumber = wholeFrom(1, 65_535)

/** Returns a parser of numbers. */
function numberFrom(least: number, most: number): (text: string) => number {
  return numberOption({ pattern: /^(\d+(?:\.\d+)?)$/, what: `a number from ${least} to ${most}`, least, most })
}

/** Parses a rate per second. */
export const perSecond = numberFrom(0.000001, 1_000_000)

/** Seconds of the longest time that a download accepts. */
export const WEEK_SECONDS = 604_800

/** Parses a time in seconds, of at least a millisecond. */
export const seconds = numberFrom(0.001, WEEK_SECONDS)

/** Parses a number of bytes: `500k`, `2.5M`, `1G`, in units of 1000. */
export const byteCount = numberOption({
  pattern: /^(\d+(?:\.\d+)?)([kmg]?)b?$/i,
  units: { '': 1, k: 1e3, m: 1e6, g: 1e9 },
  what: 'a number of bytes from 1 to 1000000G, such as 500k or 10M',
  least: 1,
  most: 1e15,
})

/** Parses a duration, `90s`, `30m`, `2h` or `1d`, to milliseconds. */
export const duration = numberOption({
  pattern: /^(\d+(?:\.\d+)?)([smhd])$/,
  units: { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 },
  what: 'a duration from 0.001s to 1000000d, such as 90s, 30m, 2h or 1d',
  least: 1,
  most: 86_400_000 * 1e6,
})

/**
 * Returns the target that the options select from a document, else the URL that the user gave.
 *
 * Errors: `USAGE` for a file without a target option, with its assets, and for an unsupported URL scheme; those of `readDocument`; `TARGET_NOT_FOUND`.
 */
export async function targetOrUrl(name: string, choice: TargetChoice, io: Io, auth: () => Promise<Auth>): Promise<Target | string> {
  if (!isChosen(choice) && isUrl(name)) return name
  const { document, url } = await documentOfTarget(name, choice, io, auth)
  return chosenTarget(document, choice, url === undefined ? {} : { url })
}

/** Reads the document of a target. Errors: those of `readDocument`; `USAGE` without a target option, with the assets. */
export async function documentOfTarget(name: string, choice: TargetChoice, io: Io, auth: () => Promise<Auth>): Promise<ReadDocument> {
  const isGiven = isChosen(choice)
  const read = await readDocument(name, io, auth)
  if (!isGiven) throw noTarget(read.document)
  return read
}

/** Errors: `USAGE` for an unsupported URL scheme. */
function isUrl(name: string): boolean {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(name)?.[1]?.toLowerCase()
  if (scheme === undefined || ['https', 'http', 's3', 'gs'].includes(scheme)) return scheme !== undefined
  throw usageError(`unsupported URL scheme "${scheme}": give an https:, http:, s3: or gs: URL`)
}

export interface CrawlOption {
  readonly crawl?: boolean
  readonly maxDocuments?: number
  readonly maxDepth?: number
  readonly maxPages?: number
  readonly sample?: number
  readonly seed?: number
  readonly concurrency?: number
  readonly perHost?: number
  readonly rate?: number
  readonly crossOrigin?: boolean
  readonly sameOrigin?: boolean
  readonly robots?: boolean
  readonly shard?: { readonly index: number; readonly of: number }
  readonly resume?: string
  readonly contact?: string
}

/** Adds `--crawl` and its options. */
export function withCrawlOptions(command: Command): Command {
  withReachOptions(command, 'follow the links of catalogs and APIs, and lint every document')
  return inOptionGroup(command, 'Crawl:', (group) =>
    group
      .option('--concurrency <n>', 'with --crawl: request this many documents at a time', wholeFrom(1))
      .option('--per-host <n>', 'with --crawl: limit concurrent requests per origin (default: --concurrency, else 8)', wholeFrom(1))
      .option('--rate <n>', 'with --crawl: limit requests per second and origin', perSecond)
      .option('--resume <file>', 'with --crawl: save progress to this file and resume from it'),
  )
}

/** Adds `--crawl` with this description, and the options for its limits. */
export function withReachOptions(command: Command, crawl: string): Command {
  return inOptionGroup(command, 'Crawl:', (group) =>
    group
      .option('--crawl', crawl)
      .option('--max-documents <n>', 'with --crawl: read at most this many documents', wholeFrom(1))
      .option('--max-depth <n>', 'with --crawl: follow at most this many links in a row (default: 64)', wholeFrom(0))
      .option('--max-pages <n>', 'with --crawl: read at most this many pages per list', wholeFrom(1))
      .option('--sample <n>', 'with --crawl: read this many items per collection', wholeFrom(1))
      .option('--seed <n>', 'with --crawl: select another sample', wholeFrom(0))
      .addOption(new Option('--cross-origin', 'with --crawl: follow links to other origins').conflicts('sameOrigin'))
      .option('--same-origin', 'with --crawl: skip links to other origins without reporting them')
      .option('--robots', 'with --crawl: obey robots.txt')
      .option('--shard <i/n>', 'process the i-th of n parts of the documents', partOf)
      .option('--contact <text>', 'with --crawl: add your contact details to the User-Agent'),
  )
}

/** Converts options to the settings of a crawl. Errors: `USAGE` for an invalid `--contact`. */
export function crawlSettings(options: CrawlOption): CrawlLimits & CrawlManners {
  const { crossOrigin, sameOrigin, contact, maxDocuments, maxDepth, maxPages, sample, seed, concurrency, perHost, rate, robots, shard } =
    options
  if (contact !== undefined && !/^[\x20-\x7e]{1,200}$/.test(contact)) throw usageError('--contact must be one line of ASCII text')
  const origins = crossOrigin ? 'cross' : sameOrigin ? 'same' : undefined
  const userAgent = `stac-auth/${version()}${contact === undefined ? '' : ` (${contact.replace(/[()\\]/g, '')})`}`
  return defined({ maxDocuments, maxDepth, maxPages, sample, seed, concurrency, perHost, rate, robots, shard, origins, userAgent })
}

/** Checks options that need or exclude `--crawl`. Errors: `USAGE`. */
export function requireCrawl(
  options: CrawlOption & { readonly fix?: boolean; readonly fixSuggestions?: boolean; readonly fixDryRun?: boolean },
): void {
  if (options.crawl && (options.fix || options.fixSuggestions || options.fixDryRun))
    throw usageError('--crawl and --fix exclude each other', 'give the files to fix as inputs')
  const { maxDocuments, maxDepth, maxPages, sample, seed, perHost, rate, crossOrigin, sameOrigin, robots, resume, contact } = options
  const given = { maxDocuments, maxDepth, maxPages, sample, seed, perHost, rate, crossOrigin, sameOrigin, robots, resume, contact }
  const [name] = Object.keys(defined(given))
  if (options.crawl || name === undefined) return
  const option = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  throw usageError(`${option} needs --crawl`, 'without --crawl, links are not followed')
}

/** Parses a shard: `1/4` is the first of four parts. */
export function partOf(text: string): { index: number; of: number } {
  const [, index, of] = /^(\d{1,6})\/(\d{1,6})$/.exec(text)?.map(Number) ?? []
  if (index === undefined || of === undefined || index < 1 || index > of)
    throw new InvalidArgumentError('it must be I/N, such as 1/4, with I from 1 to N and N at most 999999')
  return { index, of }
}

/** The credential file in use; only the default one may be missing. */
export interface CredentialPath {
  readonly path: string
  readonly named: boolean
}

/** Returns the argument, the option, the variable or the default path, in this order. Errors: `USAGE` for argument and option. */
export async function credentialPath(
  { credentials }: CredentialsOption,
  { env }: Pick<Io, 'env'>,
  argument?: string,
): Promise<CredentialPath> {
  if (argument !== undefined && credentials !== undefined)
    throw usageError('the credential file is given twice: as argument and as --credentials')
  const named = argument ?? credentials ?? (env.STAC_AUTH_CREDENTIALS || undefined)
  if (named !== undefined) return { path: named, named: true }
  const { defaultCredentialFile } = await import('../node/credentials/index.ts')
  return { path: defaultCredentialFile({ ...env }), named: false }
}

/** False where no credential file is named and the user has no configuration folder, as in a container without `HOME`: there is none to read. */
export async function hasCredentialPath({ credentials }: CredentialsOption, { env }: Pick<Io, 'env'>): Promise<boolean> {
  const { defaultFileToRead } = await import('../node/credentials/index.ts')
  return Boolean(credentials ?? env.STAC_AUTH_CREDENTIALS) || defaultFileToRead({ ...env }) !== undefined
}
