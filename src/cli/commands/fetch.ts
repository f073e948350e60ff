import type { Command } from 'commander'
import type { Auth } from '../../auth/auth.ts'
import { mediaType, pageProblem } from '../../http/media-type.ts'
import { writeNewFile } from '../../node/write-file.ts'
import { ownString } from '../../stac/json.ts'
import type { Target } from '../../stac/target.ts'
import type { Context } from '../context.ts'
import type { Diagnostics } from '../diagnostics.ts'
import { EXIT } from '../exit-code.ts'
import { untilInterrupted } from '../interruption.ts'
import { write } from '../io.ts'
import { openAuth } from '../open-auth.ts'
import { type CredentialsOption, type TargetChoice, withCredentialsOption, withTargetOptions } from '../options.ts'
import { failedBody, incomplete, requireSuccess } from '../response.ts'
import { targetOrAddress } from '../target-or-address.ts'

interface FetchOptions extends TargetChoice, CredentialsOption {
  readonly output?: string
}

/** `fetch (DOC --asset K | URL) [-o FILE]`: sends the authorized request; the body goes to stdout or to a new file. */
export function addFetch(program: Command, context: Context): void {
  const command = program.command('fetch <document-or-url>').description('send the authorized request; the body goes to stdout or a file')
  withCredentialsOption(withTargetOptions(command))
    .option('-o, --output <file>', 'write to this new file instead of stdout (-)')
    .action(context.run((name: string, options: FetchOptions) => fetchOne(name, options, context)))
}

async function fetchOne(name: string, options: FetchOptions, context: Context): Promise<number> {
  const progress: Progress = { status: 0, bytes: 0, used: new Set() }
  const opened = openAuth(context, options, [name], (credential) => progress.used.add(credential))
  const wanted = await targetOrAddress(name, options, context.io, opened, 'fetched')
  const auth = await opened()
  progress.used.clear()
  const start = performance.now()
  const chunks = () => send(wanted, auth, progress, context)
  if (options.output === undefined || options.output === '-')
    for await (const chunk of await chunks()) await write(context.io.stdout, chunk)
  else await writeNewFile(options.output, chunks)
  await context.diagnostics.note(summary(progress, performance.now() - start))
  return EXIT.done
}

/** What is known of an answer while its body is being read. */
interface Progress {
  status: number
  bytes: number
  /** Ids of the entries that were accepted on the way. */
  readonly used: Set<string>
}

async function send(
  wanted: Target | string,
  auth: Auth,
  progress: Progress,
  { io: { signal }, diagnostics }: Context,
): Promise<AsyncIterable<Uint8Array>> {
  const response = await untilInterrupted(auth.fetch(wanted, { signal, headers: { 'accept-encoding': 'identity' } }), signal)
  const target = typeof wanted === 'string' ? undefined : wanted
  await requireSuccess(response, response.url, target)
  if (target) warnOfPage(response, target, diagnostics)
  progress.status = response.status
  return bodyOf(response, progress, signal)
}

/** A login page often comes with 200: a web page instead of what the document promises is worth a word. */
function warnOfPage({ headers }: Response, { object, pointer }: Target, diagnostics: Diagnostics): void {
  const message = pageProblem(mediaType(ownString(object, 'type')), headers.get('content-type'))
  if (message !== undefined) diagnostics.warn({ code: 'CONTENT_TYPE_UNEXPECTED', pointer, message })
}

async function* bodyOf(response: Response, progress: Progress, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      progress.bytes += chunk.byteLength
      yield chunk
    }
  } catch (error) {
    throw failedBody(error, response.url, signal)
  }
  requireLength(response, progress.bytes)
}

/** A body that says its length must have it. Errors: `FILE_INCOMPLETE`. */
function requireLength({ headers, url }: Response, bytes: number): void {
  const length = headers.get('content-length')
  if (length === null || headers.has('content-encoding') || Number(length) === bytes) return
  throw incomplete(url, `${bytes} of ${length} bytes were received`)
}

function summary({ status, bytes, used }: Progress, milliseconds: number): string {
  const credentials = [...used].map((id) => `, credential "${id}"`).join('')
  return `${status}, ${bytes} bytes in ${Math.round(milliseconds)} ms${credentials}`
}
