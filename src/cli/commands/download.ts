import { type Command, Option } from 'commander'
import type { Context } from '../context.ts'
import type { DownloadCommandOptions } from '../download/run.ts'
import {
  byteCount,
  inOptionGroup,
  noInputs,
  perSecond,
  seconds,
  WEEK_SECONDS,
  wholeFrom,
  withAssetOptions,
  withByAddressOption,
  withCredentialsOption,
  withQuietOption,
  withReachOptions,
} from '../options.ts'
import { withOrderOptions } from '../orders.ts'

const NOTE = `
A second run resumes incomplete files. stac-auth explain DOC shows which credential each asset would use.`

/** `download DOC… [-d DIR]`: downloads and verifies assets; a second run resumes. */
export function addDownload(program: Command, context: Context): void {
  const command = program
    .command('download [inputs...]')
    .description('download assets of documents from files, folders, globs, URLs or stdin (-), and s3:// URLs')
  withDownloadOptions(command)
    .addHelpText('after', NOTE)
    .action(
      context.run(async (names: string[], options: DownloadCommandOptions) => {
        if (names.length === 0) throw noInputs('download', options)
        const { downloadAll } = await import('../download/run.ts')
        return downloadAll(names, options, context)
      }),
    )
}

/** Adds the options of {@link DownloadCommandOptions}. */
function withDownloadOptions(command: Command): Command {
  return withReachOptions(
    withRateOptions(withByAddressOption(withCredentialsOption(withFileOptions(withSelectionOptions(command))))),
    'follow the links of catalogs and APIs',
  )
}

function withFileOptions(command: Command): Command {
  return withOrderOptions(withQuietOption(command))
    .option(
      '--template <template>',
      'name files by {id} {collection} {key} {name} {stem} {ext} {year} {month} {day} {local_path} (default: {id}/{name})',
    )
    .addOption(
      new Option('--existing <what>', 'keep existing files that match their document, refuse or replace them (default: keep)').choices([
        'keep',
        'refuse',
        'replace',
      ]),
    )
    .option('--verify', 'also compare existing files with the servers')
    .option('--manifest <file>', 'write a manifest of all files as NDJSON')
    .option('--rename', 'rename the second of two files with the same name')
    .option('--max-objects <n>', 'limit the objects of an object store folder (default: 100000)', wholeFrom(1))
    .option('--rewrite-hrefs', 'write a copy of each item with hrefs to the downloaded files')
    .option('--no-reread', 'fail when a signed URL has expired, instead of reading its document again from its URL')
    .option('--no-resume', 'restart incomplete files from the beginning')
    .option('--accept-html', 'accept an HTML page where another media type is expected')
    .option('--trust-server', 'keep files that differ in size, checksum or format from their document')
    .option('--strict', 'fail on unexpected content codings and HTML pages instead of warning')
    .option('--dry-run', 'show files and credentials without downloading')
    .option('--all', 'name every file that fails or cannot be downloaded, not the first three of each reason')
    .option('--json', 'print one JSON event per line, then the summary')
}

function withSelectionOptions(command: Command): Command {
  return inOptionGroup(command, 'Assets and folder:', (group) =>
    withAssetOptions(group.option('-d, --output-dir <folder>', 'write files to this folder, or to s3://bucket/prefix', '.'), 'download')
      .option('--link <rel>', 'download the first link with this relation, not assets: enclosure; REL#n the n-th, from 0')
      .option('--min-size <bytes>', 'skip smaller files, by file:size or response length: 500, 10k', byteCount)
      .option('--max-size <bytes>', 'skip larger files: 10M, 2G', byteCount),
  )
}

function withRateOptions(command: Command): Command {
  return inOptionGroup(command, 'Speed and retries:', (group) =>
    group
      .option('--queue [url]', 'download by the workers of this Redis queue (default: STAC_AUTH_QUEUE)')
      .option('--concurrency <n>', 'download this many files at a time (default: 16)', wholeFrom(1))
      .option('--per-host <n>', 'limit concurrent requests per origin (default: 8)', wholeFrom(1))
      .option('--rate <n>', 'limit requests per second and origin', perSecond)
      .option('--limit-rate <bytes>', 'limit the total bytes per second: 500k, 10M', byteCount)
      .option('--ranges <n>', 'limit concurrent requests per large file (default: 4, with --limit-rate 1)', wholeFrom(1))
      .option('--retries <n>', 'fail a file after this many retries without progress (0: no retry; default: 10)', wholeFrom(0))
      .option('--stall-timeout <seconds>', 'retry when a file stays below 1 KiB per second for this time (default: 60)', seconds)
      .option('--wait <seconds>', 'wait this long for files that the server is preparing (default: 600)', wholeFrom(0, WEEK_SECONDS)),
  )
}
