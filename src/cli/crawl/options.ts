/** The options of `--crawl`. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { CrawlLimits, CrawlManners } from '../../crawl/index.ts'
import type { FixingOptions } from '../lint/lint-options.ts'
import { inOptionGroup, positive, wholeFrom } from '../options.ts'
import { usageError } from '../usage.ts'
import { version } from '../version.ts'

export interface CrawlOption {
  readonly crawl?: boolean
  readonly maxDocuments?: number
  readonly maxDepth?: number
  readonly maxPages?: number
  readonly sample?: number
  readonly seed?: number
  readonly concurrency?: number
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
      .option('--concurrency <n>', 'with --crawl: limit concurrent requests per origin (default: 8)', wholeFrom(1))
      .option('--rate <n>', 'with --crawl: limit requests per second and origin', positive)
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
      .option('--shard <i/n>', 'with --crawl: read the i-th of n parts', partOf)
      .option('--contact <text>', 'with --crawl: add your contact details to the User-Agent'),
  )
}

/** Converts options to the settings of a crawl. Errors: `USAGE` for an invalid `--contact`. */
export function crawlSettings(options: CrawlOption): CrawlLimits & CrawlManners {
  const { crossOrigin, sameOrigin, contact, crawl: _crawl, resume: _resume, ...rest } = options
  const { maxDocuments, maxDepth, maxPages, sample, seed, concurrency, rate, robots, shard } = rest
  if (contact !== undefined && !/^[\x20-\x7e]{1,200}$/.test(contact)) throw usageError('--contact must be one line of ASCII text')
  const origins = crossOrigin ? 'cross' : sameOrigin ? 'same' : undefined
  const given = { maxDocuments, maxDepth, maxPages, sample, seed, concurrency, rate, robots, shard, origins }
  const userAgent = `stac-auth/${version()}${contact === undefined ? '' : ` (${contact.replace(/[()\\]/g, '')})`}`
  return { ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)), userAgent }
}

/** Checks options that need or exclude `--crawl`. Errors: `USAGE`. */
export function requireCrawl(options: CrawlOption & Partial<FixingOptions>): void {
  const { maxDocuments, maxDepth, maxPages, sample, seed, rate, crossOrigin, sameOrigin, robots, shard, resume, contact } = options
  const given = { maxDocuments, maxDepth, maxPages, sample, seed, rate, crossOrigin, sameOrigin, robots, shard, resume, contact }
  const [name] = Object.entries(given).find(([, value]) => value !== undefined) ?? []
  if (options.crawl && (options.fix || options.fixSuggestions || options.fixDryRun))
    throw usageError('--crawl and --fix exclude each other', 'give the files to fix as inputs')
  if (options.crawl || name === undefined) return
  const option = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  throw usageError(`${option} needs --crawl`, 'without --crawl, links are not followed')
}

/** Parses a shard: `1/4` is the first of four parts. */
export function partOf(text: string): { index: number; of: number } {
  const [, index, of] = /^(\d{1,6})\/(\d{1,6})$/.exec(text)?.map(Number) ?? []
  if (index === undefined || of === undefined || index < 1 || index > of) throw new InvalidArgumentError('It must be I/N, such as 1/4.')
  return { index, of }
}
