import type { Command } from 'commander'
import type { VerifyEvent, VerifySummaryEvent } from '../../node/download/index.ts'
import { forJson, forLine, headline } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { exitCodeOf, worstExit } from '../exit-code.ts'
import { type Style, styleOf, write } from '../io.ts'
import { openAuth } from '../open-auth.ts'
import { type CredentialsOption, withCredentialsOption } from '../options.ts'

interface VerifyCommandOptions extends CredentialsOption {
  readonly manifest?: string
  readonly remote?: boolean
  readonly json?: boolean
}

/** `verify FOLDER`: compares downloaded files with their manifest, and with `--remote` with their servers. */
export function addVerify(program: Command, context: Context): void {
  const command = program.command('verify <folder>').description('compare downloaded files with the manifest of their folder')
  withCredentialsOption(command)
    .option('--manifest <file>', 'read this manifest, as written by download --manifest')
    .option('--remote', 'also compare with the servers, using credentials whose sendTo allows the URL')
    .option('--json', 'print one JSON object per file and line, then the summary')
    .action(context.run((folder: string, options: VerifyCommandOptions) => verify(folder, options, context)))
}

async function verify(folder: string, { manifest, remote = false, json = false, ...options }: VerifyCommandOptions, context: Context) {
  const { io } = context
  const { verifyFolder } = await import('../../node/download/index.ts')
  const auth = remote ? await openAuth(context, options, [])() : undefined
  const style = styleOf(io, io.stdout)
  const exits: number[] = []
  for await (const event of verifyFolder({
    folder,
    signal: io.signal,
    ...(manifest !== undefined && { manifest }),
    ...(auth && { auth }),
  })) {
    if (event.kind === 'failed') exits.push(exitCodeOf(event.error.code))
    const text = json ? forJson(event) : linesFor(event, style)
    if (text !== '') await write(io.stdout, `${text}\n`)
  }
  return worstExit(exits)
}

/** Formats an event; a file that was verified completely has no line. */
function linesFor(event: VerifyEvent, { red, yellow, cross }: Style): string {
  if (event.kind === 'summary') return totalOf(event)
  if (event.kind === 'failed') return `${red(cross)} ${forLine(event.path)}  ${headline(event.error)}`
  const { path, unasked, unverified } = event
  const notes = [unverified && `kept by --trust-server, differs from its document: ${unverified.join(', ')}`, unasked]
  return notes.flatMap((note) => (note ? [`${yellow('-')} ${forLine(path)}  ${forLine(note)}`] : [])).join('\n')
}

function totalOf({ files, verified, failed, unasked, unverified }: VerifySummaryEvent): string {
  const more = [
    failed > 0 ? `, ${failed} failed` : '',
    unverified > 0 ? `, ${unverified} of them ${unverified === 1 ? 'differs from its document' : 'differ from their documents'}` : '',
    unasked > 0 ? `, ${unasked} not compared with their servers` : '',
  ]
  return `${verified} of ${files} files verified${more.join('')}`
}
