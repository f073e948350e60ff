/** Runs `authorize --as ndjson`. */
import type { Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { AuthorizedRequest } from '../auth/auth.ts'
import type { AuthError } from '../errors.ts'
import { plural } from '../lint/reporters/report.ts'
import { type AuthorizedTarget, authorizeAll, type TargetInput } from '../node/authorize-all.ts'
import { keyOf, type SelectionOptions, type SourceDocument, selectFiles, selectionOptionsOf } from '../node/download/index.ts'
import { shown } from '../outputs/redact.ts'
import { kindOf, own, ownString } from '../stac/document.ts'
import { findAsset, type Target } from '../stac/target.ts'
import { forJson } from '../text/sanitize.ts'
import type { Context } from './context.ts'
import { givenDocuments } from './download/documents.ts'
import { EXIT, exitCodeOf, worstExit } from './exit-code.ts'
import { isBrokenPipe, write } from './io.ts'
import { openAuth } from './open-auth.ts'
import { type AssetOptions, type ByAddressOption, type CredentialsOption, defined } from './options.ts'

/** Options of `--as ndjson`. */
export interface AuthorizeLinesOptions extends CredentialsOption, ByAddressOption, AssetOptions {
  readonly reveal?: boolean
  readonly expires?: number
  readonly minValidity?: number
  readonly unordered?: boolean
  readonly concurrency?: number
  readonly shard?: { readonly index: number; readonly of: number }
}

/** Marks the document that is made for a line with a target. */
const MADE = Symbol('made')

/** Prints a line for each target of the inputs and returns the exit code. Errors: `USAGE`, `CONFIG_INVALID`, `ABORTED`. */
export async function authorizeLines(names: readonly string[], options: AuthorizeLinesOptions, context: Context): Promise<number> {
  const { io, diagnostics } = context
  const {
    asset: keys,
    include,
    exclude,
    role: roles,
    type: types,
    prefer: alternates,
    reveal = false,
    expires: presign,
    concurrency,
  } = options
  const opened = openAuth(context, options, names)
  const selection = await selectionOptionsOf(defined({ assets: defined({ keys, include, exclude, roles, types }), alternates }))
  const results = authorizeAll(await opened(), inputsOf(names, selection, options, context, opened), {
    signal: io.signal,
    ordered: options.unordered !== true,
    ...(presign !== undefined && { presign }),
    ...(concurrency !== undefined && { concurrency }),
  })
  const output = lineWriter(io.stdout)
  const exits = new Set<number>()
  let requests = 0
  let errors = 0
  try {
    for await (const result of results) {
      if (result.error) errors++
      else requests++
      if (result.error) exits.add(exitCodeOf(result.error.code))
      await output.add(forJson(lineOf(result, reveal)))
    }
    await output.end()
  } catch (error) {
    if (isBrokenPipe(error)) return EXIT.interrupted
    throw error
  }
  await diagnostics.note(
    `${plural(requests, 'request')}, ${plural(errors, 'error')}${reveal || requests === 0 ? '' : '; secrets are hidden: --reveal shows them'}`,
  )
  return worstExit(exits)
}

/** Yields the targets of each document, and the errors of inputs that cannot be read. */
async function* inputsOf(
  names: readonly string[],
  selection: SelectionOptions,
  { shard }: AuthorizeLinesOptions,
  context: Context,
  opened: Parameters<typeof givenDocuments>[3],
): AsyncGenerator<TargetInput> {
  const unread: AuthError[] = []
  const fail = ({ error }: { readonly error: AuthError }) => void unread.push(error)
  const reading = { copies: false, targets: true, ...(shard && { shard }), fail }
  for await (const source of givenDocuments(names, reading, context, opened)) {
    yield* unread.splice(0)
    const only = onlyTarget(source)
    if (only) yield only
    else for (const { targets } of selectFiles(source, selection)) yield targets
  }
  yield* unread
}

/** Returns the target of a line that is a target itself, with the schemes that it defines. */
function onlyTarget({ document, url }: SourceDocument): Target | undefined {
  if (kindOf(document) !== 'unknown' || ownString(document, 'href') === undefined) return undefined
  const schemes = own(document, 'auth:schemes')
  const around = { [MADE]: true, type: 'Collection', ...(schemes !== undefined && { 'auth:schemes': schemes }), assets: { it: document } }
  return findAsset(around, 'it', url === undefined ? {} : { url })
}

function namesOf(object: object): { readonly id?: string; readonly collection?: string } {
  const [id, collection] = [ownString(object, 'id'), ownString(object, 'collection')]
  return { ...(id !== undefined && { id }), ...(collection !== undefined && { collection }) }
}

/** Returns what is printed for a target: where it stands, and its request or error. */
function lineOf({ target, request, error }: AuthorizedTarget, reveal: boolean): object {
  return { ...(target && placeOf(target)), ...(request ? requestOf(request, reveal) : { error: withinLine(error.toJSON(), target) }) }
}

function placeOf(target: Target): object {
  const { document } = target.scope
  if (MADE in document) return { ...namesOf(target.object), href: target.href }
  return { ...namesOf(document), asset: keyOf(target), ...(target.kind === 'alternate' && { pointer: target.pointer }) }
}

/** Returns an error with pointers into the line, not into the document that was made for it. */
function withinLine(error: Record<string, unknown>, target: Target | undefined): object {
  const { pointer } = error
  if (!target || !(MADE in target.scope.document) || typeof pointer !== 'string') return error
  return { ...error, pointer: pointer.startsWith(target.pointer) ? pointer.slice(target.pointer.length) : pointer }
}

function requestOf(request: AuthorizedRequest, reveal: boolean): object {
  const { method, url, headers, body } = shown(request, { reveal })
  const { ref, scheme, credential, expiresAt } = request
  return { method, url, headers: Object.fromEntries(headers), body, ref, scheme, credential, expiresAt }
}

/** Characters. */
const MOST_WAITING = 1 << 18

/** Returns a writer of lines: those that are ready are written together, because a write for each takes longer than the signatures. */
function lineWriter(output: Writable): { add(line: string): Promise<void>; end(): Promise<void> } {
  let waiting = ''
  let writing: Promise<void> | undefined
  let hasFailed = false
  const flush = async () => {
    await setImmediate()
    while (waiting !== '') {
      const text = waiting
      waiting = ''
      await write(output, text)
    }
    writing = undefined
  }
  const end = async () => writing
  return {
    end,
    add: async (line) => {
      waiting += `${line}\n`
      writing ??= flush()
      // A failure is thrown by the next call.
      writing.catch(() => {
        hasFailed = true
      })
      if (waiting.length > MOST_WAITING || hasFailed) await end()
    },
  }
}
