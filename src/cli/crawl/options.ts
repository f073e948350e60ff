/** The options of `--crawl`. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { CrawlLimits, CrawlManners } from '../../crawl/index.ts'
import type { FixingOptions } from '../lint/lint-options.ts'
import { positive, wholeFrom } from '../options.ts'
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

/** Adds `--crawl` and what goes with it. */
export function withCrawlOptions(command: Command): Command {
  return withReachOptions(command, 'follow the links of catalogs and APIs and lint every document')
    .option('--concurrency <n>', 'with --crawl: requests at a time per origin (default: 8)', wholeFrom(1))
    .option('--rate <n>', 'with --crawl: requests per second and origin', positive)
    .option('--resume <file>', 'with --crawl: where the state is kept; goes on where it stopped, later reads only what has changed')
}

/** Adds `--crawl`, which does what is said here, and the options for how far it goes. */
export function withReachOptions(command: Command, crawl: string): Command {
  return command
    .option('--crawl', crawl)
    .option('--max-documents <n>', 'with --crawl: documents to read', wholeFrom(1))
    .option('--max-depth <n>', 'with --crawl: links away from the start (default: 64)', wholeFrom(0))
    .option('--max-pages <n>', 'with --crawl: pages of each list', wholeFrom(1))
    .option('--sample <n>', 'with --crawl: items of each collection', wholeFrom(1))
    .option('--seed <n>', 'with --crawl: another sample', wholeFrom(0))
    .addOption(new Option('--cross-origin', 'with --crawl: follow links to other origins').conflicts('sameOrigin'))
    .option('--same-origin', 'with --crawl: leave out other origins without reporting them')
    .option('--robots', 'with --crawl: keep to robots.txt')
    .option('--shard <i/n>', 'with --crawl: the i-th of n parts', partOf)
    .option('--contact <text>', 'with --crawl: who asks, for the User-Agent: an address of yours')
}

/** How far and how, from the options. Errors: `USAGE` for an option that only means something with `--crawl`. */
export function crawlSettings(options: CrawlOption): CrawlLimits & CrawlManners {
  const { crossOrigin, sameOrigin, contact, crawl: _crawl, resume: _resume, ...rest } = options
  const { maxDocuments, maxDepth, maxPages, sample, seed, concurrency, rate, robots, shard } = rest
  if (contact !== undefined && !/^[\x20-\x7e]{1,200}$/.test(contact)) throw usageError('--contact is one line of plain text')
  const origins = crossOrigin ? 'cross' : sameOrigin ? 'same' : undefined
  const given = { maxDocuments, maxDepth, maxPages, sample, seed, concurrency, rate, robots, shard, origins }
  const userAgent = `stac-auth/${version()}${contact === undefined ? '' : ` (${contact.replace(/[()\\]/g, '')})`}`
  return { ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)), userAgent }
}

/** `USAGE` for options that say nothing without `--crawl`, or nothing with it. */
export function requireCrawl(options: CrawlOption & Partial<FixingOptions>): void {
  const { maxDocuments, maxDepth, maxPages, sample, seed, rate, crossOrigin, sameOrigin, robots, shard, resume, contact } = options
  const given = { maxDocuments, maxDepth, maxPages, sample, seed, rate, crossOrigin, sameOrigin, robots, shard, resume, contact }
  const [name] = Object.entries(given).find(([, value]) => value !== undefined) ?? []
  if (options.crawl && (options.fix || options.fixSuggestions || options.fixDryRun))
    throw usageError('--crawl mends nothing', 'give the files themselves')
  if (options.crawl || name === undefined) return
  const option = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  throw usageError(`${option} is for --crawl`, 'without it only the inputs themselves are read')
}

function partOf(text: string): { index: number; of: number } {
  const [, index, of] = /^(\d{1,6})\/(\d{1,6})$/.exec(text)?.map(Number) ?? []
  if (index === undefined || of === undefined || index < 1 || index > of) throw new InvalidArgumentError('It must be I/N, such as 1/4.')
  return { index, of }
}
