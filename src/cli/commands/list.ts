import { type Command, Option } from 'commander'
import { plural } from '../../lint/reporters/report.ts'
import type { StoredObject } from '../../objects/list-objects.ts'
import { forJson, forLine } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-code.ts'
import { write } from '../io.ts'
import { openAuth } from '../open-auth.ts'
import {
  diagnosticsFor,
  type QuietOption,
  type TargetRequestOptions,
  targetOrUrl,
  wholeFrom,
  withQuietOption,
  withTargetRequestOptions,
} from '../options.ts'

interface ListOptions extends TargetRequestOptions, QuietOption {
  readonly json?: boolean
  readonly limit?: number
}

/** `list (DOC --asset K | URL)`: prints the objects of an object store folder, one per line. */
export function addList(program: Command, context: Context): void {
  const command = program.command('list <document-or-url>').description('list the objects of an asset that is an object store folder')
  withQuietOption(withTargetRequestOptions(command))
    .option('--json', 'print one JSON object per line')
    .addOption(new Option('--limit <n>', 'list at most this many objects').argParser(wholeFrom(1)))
    .action(context.run((name: string, options: ListOptions) => list(name, options, context)))
}

async function list(name: string, options: ListOptions, context: Context): Promise<number> {
  const { io, diagnostics } = context
  const opened = openAuth(context, options, [name])
  const wanted = await targetOrUrl(name, options, io, opened)
  const { listObjects } = await import('../../objects/list-objects.ts')
  const { limit, json = false } = options
  let count = 0
  let bytes = 0
  for await (const object of listObjects(await opened(), wanted, { signal: io.signal, ...(limit !== undefined && { limit }) })) {
    await write(io.stdout, `${json ? forJson(object) : lineFor(object)}\n`)
    count++
    bytes += object.size
  }
  const more = count === limit ? '; there may be more: see --limit' : count === 0 ? '; if this is a file, stac-auth fetch sends it' : ''
  await diagnosticsFor({ diagnostics }, options).note(`${plural(count, 'object')}, ${plural(bytes, 'byte')}${more}`)
  return EXIT.done
}

/** Formats size and path; URLs are in the JSON output. */
function lineFor({ size, path, key }: StoredObject): string {
  return `${String(size).padStart(12)}  ${forLine(path || key)}`
}
