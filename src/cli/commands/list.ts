import { type Command, Option } from 'commander'
import type { StoredObject } from '../../objects/list-objects.ts'
import { forJson, forLine } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-code.ts'
import { write } from '../io.ts'
import { openAuth } from '../open-auth.ts'
import { type TargetRequestOptions, targetOrAddress, withTargetRequestOptions } from '../options.ts'
import { usageError } from '../usage.ts'

interface ListOptions extends TargetRequestOptions {
  readonly json?: boolean
  readonly limit?: number
}

/** `list (DOC --asset K | URL)`: prints what lies in a folder of an object store, one object per line. */
export function addList(program: Command, context: Context): void {
  const command = program.command('list <document-or-url>').description('list the objects of an asset that is a folder in an object store')
  withTargetRequestOptions(command)
    .option('--json', 'one JSON object per line: key, path, size, etag, lastModified, storageClass, url')
    .addOption(new Option('--limit <n>', 'at most that many objects').argParser(wholeNumber))
    .action(context.run((name: string, options: ListOptions) => list(name, options, context)))
}

async function list(name: string, options: ListOptions, context: Context): Promise<number> {
  const { io, diagnostics } = context
  const opened = openAuth(context, options, [name])
  const wanted = await targetOrAddress(name, options, io, opened, 'listed')
  const { listObjects } = await import('../../objects/list-objects.ts')
  const { limit, json = false } = options
  let count = 0
  let bytes = 0
  for await (const object of listObjects(await opened(), wanted, { signal: io.signal, ...(limit !== undefined && { limit }) })) {
    await write(io.stdout, `${json ? forJson(object) : lineFor(object)}\n`)
    count++
    bytes += object.size
  }
  await diagnostics.note(`${count} objects, ${bytes} bytes${count === limit ? '; there may be more: see --limit' : ''}`)
  return EXIT.done
}

/** Size and path; the path is for people, addresses are in the JSON. */
function lineFor({ size, path, key }: StoredObject): string {
  return `${String(size).padStart(12)}  ${forLine(path || key)}`
}

function wholeNumber(text: string): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value > 0) return value
  throw usageError(`"${text}" is not a number of objects`)
}
