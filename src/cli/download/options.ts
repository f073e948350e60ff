/** The options of `download`. */
import { type Command, Option } from 'commander'
import type { DownloadOptions } from '../../node/download/index.ts'
import { type CrawlOption, requireCrawl, withReachOptions } from '../crawl/options.ts'
import {
  type ByAddressOption,
  byteCount,
  type CredentialsOption,
  positive,
  wholeFrom,
  withByAddressOption,
  withCredentialsOption,
} from '../options.ts'

export interface DownloadCommandOptions extends CredentialsOption, ByAddressOption, Omit<CrawlOption, 'resume'> {
  readonly outputDir: string
  readonly asset?: readonly string[]
  readonly exclude?: readonly string[]
  readonly role?: readonly string[]
  readonly type?: readonly string[]
  readonly minSize?: number
  readonly maxSize?: number
  readonly prefer?: readonly string[]
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
  readonly rewriteHrefs?: boolean
  readonly strict?: boolean
  readonly acceptHtml?: boolean
  readonly verify?: boolean
  readonly manifest?: string
  readonly dryRun?: boolean
  readonly json?: boolean
}

/** Adds the options of {@link DownloadCommandOptions}. */
export function withDownloadOptions(command: Command): Command {
  return withReachOptions(
    withPaceOptions(withByAddressOption(withCredentialsOption(withFileOptions(command)))),
    'follow the links of catalogs and APIs',
  )
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
  'verify',
  'manifest',
  'dryRun',
  'maxObjects',
] as const

/** What the library is told, of what was said on the command line. */
export function libraryOptions(options: DownloadCommandOptions): Omit<DownloadOptions, 'folder' | 'auth' | 'signal'> {
  const { asset: keys, exclude, role: roles, type: types, minSize, maxSize, rename, stallTimeout, prefer, limitRate } = options
  const same = Object.fromEntries(SAME.map((name) => [name, options[name]])) as Pick<DownloadCommandOptions, (typeof SAME)[number]>
  return defined({
    ...same,
    alternates: prefer,
    bytesPerSecond: limitRate,
    documents: options.rewriteHrefs,
    assets: defined({ keys, exclude, roles, types, minSize, maxSize }),
    collisions: rename ? ('rename' as const) : undefined,
    stallTimeout: stallTimeout === undefined ? undefined : stallTimeout * 1000,
  })
}

/** How far a crawl goes, in the terms of a crawl. Errors: `USAGE` for what is said without `--crawl`. */
export function reachOf(options: DownloadCommandOptions): CrawlOption {
  const { perHost, rate, resume: _resume, concurrency: _files, ...reach } = options
  requireCrawl({ ...reach, rate: undefined })
  return defined({ ...reach, rate, concurrency: perHost })
}

function withFileOptions(command: Command): Command {
  return command
    .option('-d, --output-dir <folder>', 'where files go; it is made if it is missing', '.')
    .option('--asset <key>', 'only assets of that key, or of keys that match a glob: B0* (repeatable)', collect)
    .option('--exclude <glob>', 'no assets whose key, or name in its URL, matches: *.xml (repeatable)', collect)
    .option('--role <role>', 'only assets of that role (repeatable)', collect)
    .option('--type <media-type>', 'only assets of that media type; image/* for all of a kind (repeatable)', collect)
    .option('--min-size <bytes>', 'no smaller files, by file:size or else the length of the response: 500, 10k', byteCount)
    .option('--max-size <bytes>', 'no larger files: 10M, 2G', byteCount)
    .option('--prefer <alternate>', 'alternates of that name before the asset itself (repeatable)', collect)
    .option(
      '--template <template>',
      'names below the folder, of {id} {collection} {key} {name} {stem} {ext} {year} {month} {day} {local_path} (default: {id}/{name})',
    )
    .addOption(
      new Option(
        '--existing <what>',
        'files that are there: keep those that are what their document promises (default), refuse, or replace them',
      ).choices(['keep', 'refuse', 'replace']),
    )
    .option('--verify', 'ask the servers about files that are there, and keep only those that are what they have')
    .option('--manifest <file>', 'write a manifest of all files that are there after this run, as NDJSON')
    .option('--rename', 'give the second of two files of one name another one, instead of refusing it')
    .option('--max-objects <n>', 'objects of an asset that is a folder of an object store (default: 100000)', wholeFrom(1))
    .option('--rewrite-hrefs', 'write a copy of each item beside its files that points at them')
    .option('--no-resume', 'begin anew where an earlier run has left a part of a file')
    .option('--accept-html', 'take a web page where the document, the name or the role promises something else')
    .option('--strict', 'refuse what otherwise is a warning: what stays packed, and a web page where nothing is promised')
    .option('--dry-run', 'say what would go where and with which credential; no file is fetched')
    .option('--json', 'print one event per line as JSON, the summary last; errors are JSON lines on stderr')
}

function withPaceOptions(command: Command): Command {
  return command
    .option('--concurrency <n>', 'files at a time (default: 16, fewer with a low --limit-rate)', wholeFrom(1))
    .option('--per-host <n>', 'requests at a time per origin (default: 8)', wholeFrom(1))
    .option('--rate <n>', 'requests per second and origin', positive)
    .option('--limit-rate <bytes>', 'bytes per second in all: 500k, 10M', byteCount)
    .option('--ranges <n>', 'requests at a time for one large file (default: up to 4, with --limit-rate 1)', wholeFrom(1))
    .option('--retries <n>', 'attempts in a row that gained nothing before a file is given up (default: 10)', wholeFrom(1))
    .option('--stall-timeout <seconds>', 'how long a file may come slower than 1 KiB per second (default: 60)', positive)
}

function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text]
}

/** Without members that nobody gave. */
function defined<T extends object>(given: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  }
}
