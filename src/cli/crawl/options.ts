/** The options of `lint --crawl`. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { CrawlLimits, CrawlManners } from '../../crawl/index.ts'
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
  return command
    .option('--crawl', 'follow the links of catalogs and APIs and lint every document')
    .option('--max-documents <n>', 'with --crawl: documents to read', atLeast(1))
    .option('--max-depth <n>', 'with --crawl: links away from the start (default: 64)', atLeast(0))
    .option('--max-pages <n>', 'with --crawl: pages of each list', atLeast(1))
    .option('--sample <n>', 'with --crawl: items of each collection', atLeast(1))
    .option('--seed <n>', 'with --crawl: another sample', atLeast(0))
    .option('--concurrency <n>', 'with --crawl: requests at a time per origin (default: 8)', atLeast(1))
    .option('--rate <n>', 'with --crawl: requests per second and origin', positive)
    .addOption(new Option('--cross-origin', 'with --crawl: follow links to other origins').conflicts('sameOrigin'))
    .option('--same-origin', 'with --crawl: leave out other origins without reporting them')
    .option('--robots', 'with --crawl: keep to robots.txt')
    .option('--shard <i/n>', 'with --crawl: the i-th of n parts', partOf)
    .option('--resume <file>', 'with --crawl: where the state is kept; goes on where it stopped, later reads only what has changed')
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

/** `USAGE` for options that say nothing without `--crawl`. */
export function requireCrawl(options: CrawlOption): void {
  const { maxDocuments, maxDepth, maxPages, sample, seed, rate, crossOrigin, sameOrigin, robots, shard, resume, contact } = options
  const given = { maxDocuments, maxDepth, maxPages, sample, seed, rate, crossOrigin, sameOrigin, robots, shard, resume, contact }
  const [name] = Object.entries(given).find(([, value]) => value !== undefined) ?? []
  if (options.crawl || name === undefined) return
  const option = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  throw usageError(`${option} is for --crawl`, 'without it only the inputs themselves are read')
}

function atLeast(least: number): (text: string) => number {
  return (text) => {
    if (!/^\d{1,9}$/.test(text) || Number(text) < least) throw new InvalidArgumentError(`It must be a whole number from ${least}.`)
    return Number(text)
  }
}

function positive(text: string): number {
  if (!/^\d{1,6}(?:\.\d{1,6})?$/.test(text) || Number(text) === 0) throw new InvalidArgumentError('It must be a positive number.')
  return Number(text)
}

function partOf(text: string): { index: number; of: number } {
  const [, index, of] = /^(\d{1,6})\/(\d{1,6})$/.exec(text)?.map(Number) ?? []
  if (index === undefined || of === undefined || index < 1 || index > of) throw new InvalidArgumentError('It must be I/N, such as 1/4.')
  return { index, of }
}
