import type { Command } from 'commander'
import type { Auth } from '../../auth/auth.ts'
import { writeNewFile } from '../../node/write-file.ts'
import type { Target } from '../../stac/target.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-code.ts'
import { FetchedBody } from '../fetched-body.ts'
import { untilInterrupted } from '../interruption.ts'
import { type Io, write } from '../io.ts'
import { openAuth } from '../open-auth.ts'
import { type CredentialsOption, type TargetChoice, withCredentialsOption, withTargetOptions } from '../options.ts'
import { requireSuccess } from '../response.ts'
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
  const used = new Set<string>()
  const opened = openAuth(context, options, [name], (credential) => used.add(credential))
  const wanted = await targetOrAddress(name, options, context.io, opened, 'fetched')
  const auth = await opened()
  used.clear()
  const start = performance.now()
  const body = await received(wanted, options.output, auth, context)
  await context.diagnostics.note(summary(body, used, performance.now() - start))
  return EXIT.done
}

/** Hands the body on as it comes: to stdout, or to a new file, for which it is asked only when it may be written. */
async function received(wanted: Target | string, output: string | undefined, auth: Auth, context: Context): Promise<FetchedBody> {
  const { io, diagnostics } = context
  if (output === undefined || output === '-') {
    const body = await answered(wanted, auth, io)
    for (const warning of body.warnings()) diagnostics.warn(warning)
    for await (const chunk of body.chunks(io.signal)) await write(io.stdout, chunk)
    return body
  }
  let body!: FetchedBody
  await writeNewFile(output, async () => {
    body = await answered(wanted, auth, io)
    await body.requireEnd()
    for (const warning of body.warnings()) diagnostics.warn(warning)
    return body.chunks(io.signal)
  })
  return body
}

async function answered(wanted: Target | string, auth: Auth, { signal }: Io): Promise<FetchedBody> {
  const target = typeof wanted === 'string' ? undefined : wanted
  const request = typeof wanted === 'string' ? { method: 'GET', url: wanted, headers: UNCODED } : wanted
  const response = await untilInterrupted(auth.send(request, { signal, headers: UNCODED }), signal)
  const { status, url, headers } = response
  await requireSuccess({ status, url, headers, body: response.chunks?.() ?? null }, () => response.discard(), target)
  return FetchedBody.of(response, target)
}

const UNCODED = { 'accept-encoding': 'identity' }

function summary({ status, bytes }: FetchedBody, used: ReadonlySet<string>, milliseconds: number): string {
  const credentials = [...used].map((id) => `, credential "${id}"`).join('')
  return `${status}, ${bytes} bytes in ${Math.round(milliseconds)} ms${credentials}`
}
