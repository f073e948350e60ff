import { once } from 'node:events'
import type { Command } from 'commander'
import { InvalidArgumentError } from 'commander'
import type { Auth } from '../../auth/auth.ts'
import { plural } from '../../lint/reporters/report.ts'
import type { Gateway, GatewayListen, GatewayRequest } from '../../node/gateway/index.ts'
import { isProtected } from '../../stac/target.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { forJson, forLine } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { EXIT, usageError } from '../exit-code.ts'
import { type Style, styleOf, untilInterrupted, write } from '../io.ts'
import type { DescribedTarget } from '../known-providers.ts'
import { LiveBlock } from '../live-block.ts'
import { openAuth } from '../open-auth.ts'
import { type CredentialsOption, portNumber, withCredentialsOption } from '../options.ts'
import { type ReadDocument, readDocuments } from '../read-document.ts'
import { documentWord } from '../setup-hint.ts'
import { bytesText } from '../units.ts'

interface GatewayCommandOptions extends CredentialsOption {
  readonly port?: number
  readonly name?: string
  readonly json?: boolean
  readonly allowOrigin?: string
  readonly rewrite: boolean
  readonly listen?: string
  readonly iKnowThatOthersCanConnect?: boolean
}

const NOTE = `
Without documents, URLs are requested that "sendTo" of a credential allows.`

/** `gateway [DOC…]`: serves protected URLs to programs on this machine until it is interrupted. */
export function addGateway(program: Command, context: Context): void {
  const command = program
    .command('gateway [documents...]')
    .description('serve protected URLs to other programs on this machine')
    .addHelpText('after', NOTE)
  withCredentialsOption(command)
    .option('--port <number>', 'listen on this port (default: chosen by the system)', portNumber)
    .option('--name <name>', 'keep port and secret part of the URLs under this name')
    .option('--listen <where>', 'listen on this Unix socket or HOST:PORT (default: 127.0.0.1 and ::1)')
    .option('--i-know-that-others-can-connect', 'allow --listen to name an address')
    .option('--allow-origin <url>', 'answer requests of web pages of this origin', webOrigin)
    .option('--no-rewrite', 'pass documents through without replacing their URLs')
    .option('--json', 'print JSON lines')
    .action(context.run((names: readonly string[], options: GatewayCommandOptions) => serve(names, options, context)))
}

async function serve(names: readonly string[], options: GatewayCommandOptions, context: Context): Promise<number> {
  const { io } = context
  const where = listenOption(options)
  const auth = openAuth(context, options, names)
  const documents = await readDocuments(names, io, auth)
  const { createGateway } = await import('../../node/gateway/index.ts')
  const { port, name, allowOrigin, rewrite, json = false } = options
  const log = json ? programLog(context) : personLog(context)
  const noteWhole = wholeFileNotes(context)
  const start = async () =>
    createGateway(await auth(), {
      documents,
      rewrite,
      onRequest: (event) => {
        log.request(event)
        noteWhole(event)
      },
      onWarning: context.diagnostics.warn,
      ...(port !== undefined && { port }),
      ...(name !== undefined && { name }),
      ...(where && { listen: where }),
      ...(allowOrigin !== undefined && { allowOrigin }),
    })
  const gateway = await untilInterrupted(start(), io.signal)
  try {
    await log.ready(gateway, documents)
    warnOfRefused(gateway, context)
    await warnOfUnusable(names, documents, await auth(), context)
    await Promise.race([io.signal.aborted || once(io.signal, 'abort'), log.failed])
    return EXIT.done
  } finally {
    // It reports the requests that this interrupts.
    await gateway.close()
    log.end()
  }
}

/** Warnings of the same kind that a person reads. */
const MOST_WARNINGS = 20

/** Warns of targets that have no URL at the gateway. */
function warnOfRefused({ refused }: Gateway, { diagnostics }: Context): void {
  for (const { document, key, code, message } of refused.slice(0, MOST_WARNINGS))
    diagnostics.warn({ code, message: `"${key}" of "${document}" is not served: ${message}` })
}

/** Returns a function that says once for each URL that GDAL has loaded a whole file. */
export function wholeFileNotes({ diagnostics }: Context): (event: GatewayRequest) => void {
  const noted = new Set<string>()
  return ({ isWhole = false, url, bytes }) => {
    if (!isWhole || noted.has(url)) return
    noted.add(url)
    const size = bytesText(bytes)
    void diagnostics.note(
      `GDAL loaded ${url} whole (${size}): put /vsicurl/ before its URL, in run {vsi:KEY}, so that it reads only what it needs`,
    )
  }
}

/** Targets that are explained: more take longer than a person waits. */
const MOST_EXPLAINED = 1000

/** Explains the targets of a document, and names the providers of files without a usable credential, with the command for each. */
export async function noteNeededProviders(
  read: ReadDocument,
  auth: Auth,
  { diagnostics }: Pick<Context, 'diagnostics'>,
): Promise<readonly DescribedTarget[]> {
  const { describeTargets, needsOfProviders, providerLine } = await import('../known-providers.ts')
  const described = await describeTargets(read, auth, undefined, MOST_EXPLAINED)
  const needs = needsOfProviders(described.map(({ recognized }) => recognized))
  for (const need of needs) if (need.command !== undefined) await diagnostics.note(providerLine(need))
  return described
}

/** Warns of protected targets whose requests will be refused, and of files of known providers without a credential. */
async function warnOfUnusable(names: readonly string[], documents: readonly ReadDocument[], auth: Auth, context: Context): Promise<void> {
  for (const [index, read] of documents.entries()) {
    const described = (await noteNeededProviders(read, auth, context)).filter(({ target }) => isProtected(target))
    const refused = described.flatMap(({ explanation }) =>
      explanation.code !== undefined || explanation.refs.every((ref) => ref.code !== undefined) ? [explanation] : [],
    )
    const [first] = refused
    if (!first) continue
    const code = first.code ?? first.refs[0]?.code ?? 'NO_CREDENTIAL'
    const what = `${refused.length} of ${described.length} protected targets cannot be requested`
    const message = `${what}; to see why: stac-auth explain ${documentWord(names[index] ?? 'DOC')}`
    context.diagnostics.warn({ code, pointer: first.pointer, message })
  }
}

/** Output of the command. */
interface Log {
  ready(gateway: Gateway, documents: readonly ReadDocument[]): Promise<void>
  request(event: GatewayRequest): void
  /** Rejects when the reader of the output has closed it. */
  readonly failed: Promise<unknown>
  end(): void
}

/** Output for programs: JSON lines on stdout. */
function programLog({ io: { stdout } }: Context): Log {
  const closing = new AbortController()
  const failed = once(closing.signal, 'abort').then(() => {
    throw closing.signal.reason
  })
  failed.catch(() => undefined)
  return {
    ready: ({ base, targets }) => write(stdout, `${forJson({ ready: { base, targets } })}\n`),
    request: ({ milliseconds, ...event }) => {
      const request = { ...event, milliseconds: Math.round(milliseconds * 10) / 10 }
      write(stdout, `${forJson({ request })}\n`).catch((error: unknown) => closing.abort(error))
    },
    failed,
    end: () => {},
  }
}

/** Output for people: the URLs on stdout, then a line for each request on stderr, with totals below where it is a terminal. */
function personLog({ io, diagnostics }: Context): Log {
  const block = new LiveBlock(io)
  const style = styleOf(io, io.stderr)
  const totals = { requests: 0, failed: 0, bytes: 0 }
  const summary = () =>
    [plural(totals.requests, 'request'), ...(totals.failed > 0 ? [`${totals.failed} failed`] : []), bytesText(totals.bytes)].join(', ')
  const draw = () => block.show([summary().slice(0, block.width)])
  return {
    ready: async (gateway, documents) => {
      await write(io.stdout, readyText(gateway, documents))
      if (gateway.targets.length === 0 && documents.length > 0)
        await diagnostics.note('the documents have no assets with a URL; their links and what is below their URLs can be requested')
      if (documents.length === 0) await diagnostics.note('for https://HOST/PATH, request /https/HOST/PATH below that URL')
      draw()
    },
    request: (event) => {
      totals.requests++
      totals.bytes += event.bytes
      if (isFailure(event)) totals.failed++
      block.clear()
      void write(io.stderr, `${requestLine(event, style)}\n`).catch(() => undefined)
      draw()
    },
    failed: new Promise(() => {}),
    end: () => {
      block.clear()
      if (totals.requests > 0) void diagnostics.note(summary())
    },
  }
}

function readyText({ base, targets, urlFor }: Gateway, documents: readonly ReadDocument[]): string {
  const lines = [`Gateway ${base}`]
  const several = new Set(targets.map(({ document }) => document)).size > 1
  const rows = [
    ...documents.flatMap(({ url }) => (url === undefined ? [] : [{ name: 'document', url: urlFor(url) }])),
    ...targets.map(({ document, key, url }) => ({ name: several ? `${document}/${key}` : key, url })),
  ]
  const width = Math.min(32, Math.max(0, ...rows.map(({ name }) => name.length)))
  for (const { name, url } of rows) lines.push(forLine(`${name.padEnd(width)}  ${url}`))
  lines.push('Whoever knows these URLs can use your credentials. Ctrl-C stops the gateway.')
  return `${lines.join('\n')}\n`
}

/** False for a request that the program gave up, as programs with several connections do. */
function isFailure({ status, code }: { readonly status: number; readonly code?: string | undefined }): boolean {
  return status >= 400 || (code !== undefined && code !== 'ABORTED')
}

function requestLine({ method, url, status, bytes, milliseconds, credential, code }: GatewayRequest, style: Style): string {
  const shown = isFailure({ status, code }) ? style.red(String(status)) : style.green(String(status))
  const size = bytesText(bytes).padStart(9)
  const time = `${Math.round(milliseconds)} ms`.padStart(8)
  const extra = [code, credential === undefined ? undefined : `"${credential}"`].filter((part) => part !== undefined)
  const tail = extra.length > 0 ? `  ${style.dim(forLine(extra.join(' ')))}` : ''
  return `${shown} ${size} ${time}  ${forLine(`${method.slice(0, 20)} ${url}`)}${tail}`
}

/** Parses the origin of a web page. */
function webOrigin(text: string): string {
  if (!/^https?:\/\/[^/?#@]+\/?$/i.test(text) || !canParseUrl(text))
    throw new InvalidArgumentError('it must be an origin, such as https://viewer.example')
  return new URL(text).origin
}

/** Errors: `USAGE` for an address that others can connect to, unless the user says that this is meant. */
function listenOption({ listen, port, name, iKnowThatOthersCanConnect: known = false }: GatewayCommandOptions): GatewayListen | undefined {
  if (listen === undefined) return undefined
  const [, host, digits = ''] = /^(\[[0-9a-f:.]+\]|[\w.-]+):(\d{1,5})$/i.exec(listen) ?? []
  if (host === undefined) {
    if (port !== undefined) throw usageError('--port has no meaning for a Unix socket')
    if (name !== undefined) throw usageError('--name has no meaning for a Unix socket, whose path is its name')
    if (listen === '') throw usageError('--listen is empty', 'give the path of a Unix socket, or HOST:PORT')
    if (/^:?\d+$/.test(listen)) throw usageError(`"${listen}" does not say on which address to listen`, 'use --port, or HOST:PORT')
    return { path: listen }
  }
  if (name !== undefined) throw usageError('--name keeps a port of 127.0.0.1 and ::1, not of another address')
  if (port !== undefined) throw usageError('the port is given twice: in --listen and as --port')
  if (!known)
    throw usageError(`others could connect to ${listen} and use your credentials`, 'if you want that, add --i-know-that-others-can-connect')
  return { host: host.replace(/^\[|\]$/g, ''), port: portNumber(digits), othersCanConnect: true }
}
