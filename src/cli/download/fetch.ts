import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Auth } from '../../auth/auth.ts'
import { AuthError, type ConfigurationError, IntegrityError, isAuthError } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { sleep } from '../../net/cancellation.ts'
import { systemClock } from '../../net/clock.ts'
import { retryHint, withRetryAfter } from '../../net/retry.ts'
import { writeNewFile } from '../../node/base/index.ts'
import {
  alternativesOf,
  asExpired,
  firstUsable,
  keyOf,
  lastName,
  originAndPath,
  PREPARED_WITHIN,
  Preparation,
  pathTemplate,
  promisedFile,
} from '../../node/download/index.ts'
import { answerFailure } from '../../node/transport/index.ts'
import type { Target } from '../../stac/target.ts'
import { nameInAddress } from '../../text/file-name.ts'
import { shellWord } from '../../text/shell-word.ts'
import type { Context } from '../context.ts'
import { EXIT, usageError } from '../exit-code.ts'
import { type Io, untilInterrupted, write } from '../io.ts'
import { fitted } from '../live-block.ts'
import { LiveLine } from '../live-line.ts'
import { openAuth } from '../open-auth.ts'
import { diagnosticsFor, type QuietOption, type TargetRequestOptions, targetOrUrl } from '../options.ts'
import { type OrderOption, orderingAuth } from '../orders.ts'
import { requireSuccess } from '../read-document.ts'
import { providersSetUp, withProviderHint } from '../setup-hint.ts'
import { bytesText, timeText } from '../units.ts'
import { type BodyOptions, type BodyRule, FetchedBody } from './fetched-body.ts'
import { RateMeter } from './progress.ts'

/** Options of `fetch`. */
export interface FetchOptions extends TargetRequestOptions, QuietOption, OrderOption {
  readonly output?: string
  readonly acceptHtml?: boolean
  readonly trustServer?: boolean
  /** Seconds. */
  readonly wait?: number
  readonly force?: boolean
}

/** Runs `fetch`: sends the request and writes the body. Errors: those of choosing, of sending, of the body and of the file. */
export async function fetchOne(name: string, options: FetchOptions, given: Context): Promise<number> {
  const context = { ...given, diagnostics: diagnosticsFor(given, options) }
  const used = new Set<string>()
  const opened = openAuth(context, options, [name], (credential) => used.add(credential))
  const named = await targetOrUrl(name, options, context.io, opened)
  const auth = await orderingAuth(await opened(), options, context)
  const wanted = typeof named === 'string' ? named : await usableAlternative(named, auth, context)
  used.clear()
  const start = performance.now()
  const body = await received({ wanted, named }, options, auth, context)
    .catch((error) => withAdvice(error, wanted, auth))
    .catch((error) => withProvider(error, wanted, options, context))
  await context.diagnostics.note(summary(body, used, performance.now() - start))
  return EXIT.done
}

/** Returns the first of the asset and its alternates that can be requested, as `download` does; the asset if none can. */
async function usableAlternative(target: Target, auth: Auth, { diagnostics }: Context): Promise<Target> {
  const usable = (await firstUsable(alternativesOf(target), auth))?.target ?? target
  if (usable.pointer === target.pointer) return target
  await diagnostics.note(
    `"${keyOf(target)}" is fetched from its alternate "${lastName(usable.pointer)}", because no credential can be used for ${originAndPath(target).bare}`,
  )
  return usable
}

/** Says that a signed URL has expired; names the alternate that can be requested for an asset that was refused or is not there. */
async function withAdvice(thrown: unknown, wanted: Target | string, auth: Auth): Promise<never> {
  if (!isAuthError(thrown) || typeof wanted === 'string' || !/^(?:AUTH_REJECTED|HTTP_\d+|NETWORK_\w+)$/.test(thrown.code)) throw thrown
  const error = asExpired(thrown, wanted, Date.now())
  const other = await firstUsable(alternativesOf(wanted).slice(1), auth)
  if (!other) throw error
  const name = `${keyOf(other.target)}/${lastName(other.target.pointer)}`
  const hint = `${error.hint === undefined ? '' : `${error.hint}; `}the document has an alternate: --alternate ${/^[\w./-]+$/.test(name) ? name : shellWord(name)}`
  throw new AuthError(error.code, error.message, { ...error, hint })
}

/** Adds the command that helps with a file of a known provider. */
async function withProvider(error: unknown, wanted: Target | string, options: FetchOptions, context: Context): Promise<never> {
  if (!isAuthError(error)) throw error
  const request = typeof wanted === 'string' ? { url: wanted } : { target: wanted }
  throw await withProviderHint(error, request, () => providersSetUp(options, context))
}

/** What is requested, and what the file is named by: an alternate has the name of its asset. */
interface Request {
  readonly wanted: Target | string
  readonly named: Target | string
}

/** Writes the body to stdout, or to a new file; the request is only sent if the file can be created. */
async function received({ wanted, named }: Request, options: FetchOptions, auth: Auth, context: Context): Promise<FetchedBody> {
  const { io } = context
  const output = await outputFile(named, options.output)
  if (output === undefined) {
    const body = await answered(wanted, options, auth, context)
    for await (const chunk of shown(body, options.quiet || io.stdout.isTTY === true, io)) {
      if (io.stdout.isTTY && options.output === undefined && chunk.includes(0)) throw binaryOutput()
      await write(io.stdout, chunk)
    }
    return body
  }
  let body: FetchedBody | undefined
  const source = async (coding: BodyOptions) => {
    body = await answered(wanted, { ...options, output }, auth, context, coding)
    return shown(body, options.quiet === true, io)
  }
  const written = async (coding: BodyOptions) => {
    await writeNewFile(output, () => source(coding), options.force).catch(withForceHint)
    return body as unknown as FetchedBody
  }
  try {
    return await written({ output })
  } catch (error) {
    const other = body?.otherCoding
    if (!isAuthError(error) || error.code !== 'FILE_INTEGRITY' || !other) throw error
    // The size or checksum in the document may describe the body with or without its content coding.
    return await written({ output, ...other }).catch((second) => {
      throw isAuthError(second) && second.code === 'FILE_INTEGRITY' ? error : second
    })
  }
}

/** Yields the chunks of a body, and shows on a terminal how much is received. */
async function* shown(body: FetchedBody, isQuiet: boolean, io: Io): AsyncGenerator<Uint8Array> {
  const line = new LiveLine(io)
  const meter = new RateMeter()
  try {
    for await (const chunk of body.chunks(io.signal)) {
      if (!isQuiet) line.show((width) => receivedLine(body, meter.rateAt(performance.now(), body.bytes), width))
      yield chunk
    }
  } finally {
    line.end()
  }
}

function binaryOutput(): ConfigurationError {
  return usageError(
    'the file is binary, which may confuse the terminal',
    'write it to a file with -o FILE, or to the terminal anyway with -o -',
  )
}

function withForceHint(error: unknown): never {
  if (!isAuthError(error) || error.code !== 'PATH_EXISTS') throw error
  throw new IntegrityError('PATH_EXISTS', error.message, { hint: 'use --force to replace it, or choose another name' })
}

/** Returns the file to write, undefined for stdout. In a folder it is named as `download` names it. */
async function outputFile(wanted: Target | string, output: string | undefined): Promise<string | undefined> {
  if (output === undefined || output === '-') return undefined
  const isFolder = /[\\/]$/.test(output) || (await stat(output).catch(() => undefined))?.isDirectory() === true
  if (!isFolder) return output
  const name = typeof wanted === 'string' ? nameInAddress(wanted) : pathTemplate('{name}')(wanted, keyOf(wanted)).segments.join('_')
  return join(output, name)
}

async function answered(
  wanted: Target | string,
  options: FetchOptions,
  auth: Auth,
  context: Context,
  coding: BodyOptions = {},
): Promise<FetchedBody> {
  const target = typeof wanted === 'string' ? undefined : wanted
  const request = typeof wanted === 'string' ? { method: 'GET', url: wanted, headers: UNCODED } : wanted
  const { io, diagnostics } = context
  const { wait } = options
  const preparation = new Preparation(wait === undefined ? PREPARED_WITHIN : wait * 1000, CLOCK, Math.random)
  for (;;) {
    // An order that is being placed is remembered before the command ends.
    const response = await untilInterrupted(auth.send(request, { signal: io.signal, headers: UNCODED }), io.signal, PLACED_WITHIN).catch(
      whileOrdered,
    )
    if (!isAuthError(response) && response.status !== 202) {
      await requireSuccess(response, target)
      return FetchedBody.of(response, target, bodyRule(wanted, options, context), coding)
    }
    const error = isAuthError(response) ? response : await preparedError(response, target)
    const delay = preparation.next(error)
    await diagnostics.note(`${error.message}; it is requested again in ${timeText(delay)}`)
    await sleep(delay, CLOCK, io.signal)
  }
}

/** Milliseconds in which the answer to an order comes. */
const PLACED_WITHIN = 5_000

/** Returns the error of a file that was ordered and is not ready. Errors: all others. */
function whileOrdered(error: unknown): AuthError {
  if (isAuthError(error) && error.code === 'HTTP_202') return error
  throw error
}

async function preparedError(response: HttpResponse, target: Target | undefined): Promise<AuthError> {
  const error = withRetryAfter(await answerFailure(response, target), retryHint(response.headers, CLOCK.now()))
  await response.discard()
  return error
}

function bodyRule(
  wanted: Target | string,
  { output, acceptHtml = false, trustServer = false }: FetchOptions,
  { diagnostics }: Context,
): BodyRule {
  const target = typeof wanted === 'string' ? undefined : wanted
  const asked = typeof wanted === 'string' ? wanted : originAndPath(wanted).bare
  const names = [...(target ? [] : [nameInAddress(asked)]), ...(output === undefined || output === '-' ? [] : [output])]
  return { asked, promise: promisedFile(target, names), acceptHtml, trustServer, warn: diagnostics.warn }
}

const CLOCK = systemClock()

const UNCODED = { 'accept-encoding': 'identity' }

function summary({ status, bytes }: FetchedBody, used: ReadonlySet<string>, milliseconds: number): string {
  const credentials = [...used].map((id) => `, credential "${id}"`).join('')
  return `${status}, ${bytes} bytes in ${Math.round(milliseconds)} ms${credentials}`
}

/** Returns how much of a body is received, at a rate in bytes per second, as far as it fits. */
function receivedLine({ bytes, length }: FetchedBody, rate: number, width: number): string {
  const left = length === undefined || rate === 0 ? '' : `${timeText(((length - bytes) * 1000) / rate)} left`
  const percent = length ? `${Math.floor((Math.min(bytes, length) * 100) / length)}%` : ''
  const parts = [
    { text: percent, rank: 1 },
    { text: length === undefined ? bytesText(bytes) : `${bytesText(bytes)} of ${bytesText(length)}`, rank: 0 },
    { text: `${bytesText(rate)}/s`, rank: 3 },
    { text: left, rank: 2 },
  ]
  return fitted(parts, width)
}
