import type { Command } from 'commander'
import type { Auth } from '../../auth/auth.ts'
import { NetworkError } from '../../errors.ts'
import type { Target } from '../../stac/target.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-code.ts'
import { write } from '../io.ts'
import { openAuth } from '../open-auth.ts'
import { type CredentialsOption, chosenTarget, isChosen, type TargetChoice, withCredentialsOption, withTargetOptions } from '../options.ts'
import { isAddress, readDocument } from '../read-document.ts'
import { failedBody, requireSuccess } from '../response.ts'
import { usageError } from '../usage.ts'
import { writeNewFile } from '../write-file.ts'

interface FetchOptions extends TargetChoice, CredentialsOption {
  readonly output?: string
}

/** `fetch (DOC --asset K | URL) [-o FILE]`: sends the authorized request; the body goes to stdout or to a new file. */
export function addFetch(program: Command, context: Context): void {
  const command = program.command('fetch <document-or-url>').description('send the authorized request; the body goes to stdout or a file')
  withCredentialsOption(withTargetOptions(command))
    .option('-o, --output <file>', 'write to this new file instead of stdout')
    .action(context.run((name: string, options: FetchOptions) => fetchOne(name, options, context)))
}

async function fetchOne(name: string, options: FetchOptions, context: Context): Promise<number> {
  if (!isChosen(options) && !isAddress(name))
    throw usageError('what is to be fetched? Give --asset KEY, --alternate KEY/NAME or --link REL')
  const opened = openAuth(context, options, [name])
  const wanted = isChosen(options) ? await targetOf(name, options, context, opened) : name
  const auth = await opened()
  const { io, diagnostics } = context
  const start = performance.now()
  const progress: Progress = { status: 0, bytes: 0 }
  const chunks = () => send(wanted, auth, progress, io.signal)
  if (options.output === undefined) for await (const chunk of await chunks()) await write(io.stdout, chunk)
  else await writeNewFile(options.output, chunks)
  await diagnostics.note(summary(progress, performance.now() - start, await await credentialOf(wanted, auth)))
  return EXIT.done
}

async function targetOf(name: string, options: FetchOptions, { io }: Context, auth: () => Promise<Auth>): Promise<Target> {
  const { document, url } = await readDocument(name, io, auth)
  return chosenTarget(document, options, url === undefined ? {} : { url })
}

/** What is known of an answer while its body is being read. */
interface Progress {
  status: number
  bytes: number
}

async function send(wanted: Target | string, auth: Auth, progress: Progress, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
  const response = await auth.fetch(wanted, { signal, headers: { 'accept-encoding': 'identity' } })
  await requireSuccess(response)
  progress.status = response.status
  return bodyOf(response, progress, signal)
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
  throw new NetworkError('FILE_INCOMPLETE', `${bytes} of ${length} bytes were received`, { url, retryable: true })
}

/** The entry that was used, as far as that can be told afterwards without asking anyone. */
async function credentialOf(wanted: Target | string, auth: Auth): Promise<string | undefined> {
  if (typeof wanted === 'string') return undefined
  return auth.peek(wanted)?.credential ?? (await auth.explain(wanted)).refs.find(({ code }) => code === undefined)?.credential
}

function summary({ status, bytes }: Progress, milliseconds: number, credential: string | undefined): string {
  return `${status}, ${bytes} bytes in ${Math.round(milliseconds)} ms${credential === undefined ? '' : `, credential "${credential}"`}`
}
