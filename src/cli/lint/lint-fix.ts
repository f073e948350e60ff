/** `lint --fix`: fixes files before they are linted, so that the report lists the remaining findings. */

import { readFile, realpath } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import type { Auth } from '../../auth/auth.ts'
import { isAuthError } from '../../errors.ts'
import { isAddress } from '../../http/url.ts'
import { type Fixed, fixText } from '../../lint/fix/fix-text.ts'
import type { UsedElsewhere } from '../../lint/fix/fixes.ts'
import { outerRefsIn } from '../../lint/lint.ts'
import { OuterRefs } from '../../lint/lint-run.ts'
import { namesOf } from '../../lint/pointer.ts'
import { plural } from '../../lint/reporters/report.ts'
import { childrenOf } from '../../lint/rules/unused-scheme.ts'
import { replaceFile, seenFile } from '../../node/base/index.ts'
import { DOCUMENT_LIMITS, isObject, kindOf, own, type StacDocument, wrappedMember } from '../../stac/document.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { forLine, forTerminal } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import type { Failure } from '../exit-code.ts'
import { usageError } from '../exit-code.ts'
import { lintInputs, type Selection } from '../inputs/input-files.ts'
import { piecesOf } from '../inputs/pieces.ts'
import { type Io, write } from '../io.ts'
import { jsonIn, readInput } from '../read-document.ts'
import type { FixingOptions } from './lint-options.ts'
import type { LintSettings } from './lint-run.ts'

/** Options of fixes. */
export interface FixSettings {
  readonly suggestions: boolean
  readonly only: readonly string[] | undefined
  /** Print a patch instead of writing files. */
  readonly dryRun: boolean
  /** The use of stdout, if it is not for reports. */
  readonly taken: string | undefined
}

/** Options of fixes, with the schemes that other inputs use. */
interface FixContext extends FixSettings {
  readonly usedElsewhere?: UsedElsewhere
}

/** Returns the options of fixes, or undefined without `--fix`. Errors: `USAGE`. */
export function fixSettingsOf(inputs: readonly string[], options: FixingOptions): FixSettings | undefined {
  const { fix = false, fixSuggestions = false, fixDryRun = false, fixType, stdinFilename } = options
  if (!fix && !fixSuggestions && !fixDryRun) {
    if (fixType) throw usageError('--fix-type needs --fix, --fix-suggestions or --fix-dry-run')
    return undefined
  }
  const stdin = inputs.includes('-')
  if (stdin && stdinFilename === '-') throw usageError('stdin can only be fixed when it has a name', 'give --stdin-filename NAME')
  const taken = fixDryRun ? 'the patch' : stdin ? 'the fixed text' : undefined
  return { suggestions: fixSuggestions, only: fixType, dryRun: fixDryRun, taken }
}

/** The outcome of fixing the inputs. */
export interface FixedInputs {
  /** The stream that the linter reads instead of stdin. */
  readonly stdin: Readable
  readonly failures: readonly Failure[]
}

/**
 * Fixes every file among the inputs, or prints a patch. NDJSON, compressed files, links and URLs are not changed; fixed stdin is
 * written to stdout. A file that cannot be replaced is a failure.
 */
export async function fixInputs(
  inputs: readonly string[],
  fixSettings: FixSettings,
  settings: LintSettings,
  context: Context,
  auth: () => Promise<Auth>,
): Promise<FixedInputs> {
  const { io, diagnostics } = context
  const given = inputs.includes('-') ? await readInput('-', io) : undefined
  const again = { ...io, stdin: given ? Readable.from([given]) : io.stdin }
  const selection = { ...settings.selection, mayMiss: true }
  const references = await referencesOf(inputs, fixSettings, selection, { ...context, io: again }, auth)
  const failures: Failure[] = []
  let stdin: Readable = given ? Readable.from([given]) : io.stdin
  const counts = { findings: 0, files: 0, unchanged: 0 }
  for await (const { name, ...input } of lintInputs(inputs, selection)) {
    if ('error' in input || io.signal.aborted) continue
    if (isAddress(name) || NEVER_CHANGED.test(name)) {
      counts.unchanged++
      continue
    }
    try {
      const usedElsewhere = await references?.usedElsewhere(name)
      const all = { ...fixSettings, ...(usedElsewhere && { usedElsewhere }) }
      const { fixed, read } = given && name === '-' ? await fixStdin(given, all, settings, io) : await fixFile(name, all, settings, context)
      if (read) stdin = Readable.from([read])
      if (fixed.length === 0) continue
      counts.files++
      counts.findings += fixed.length
      await reportRemoved(name === '-' ? settings.stdinName : name, fixed, fixSettings, diagnostics)
    } catch (error) {
      if (!isAuthError(error)) throw error
      failures.push({ name, error })
    }
  }
  const did = fixSettings.dryRun ? 'would fix' : 'fixed'
  await diagnostics.note(`${did} ${plural(counts.findings, 'finding')} in ${plural(counts.files, 'file')}`)
  if (counts.unchanged > 0) await diagnostics.note(`${plural(counts.unchanged, 'input')} not changed: ${UNCHANGED}`)
  return { stdin, failures }
}

const UNCHANGED = 'URLs, NDJSON, compressed files and Parquet files are only linted'

/** Names of files that are not a JSON text of one document. */
const NEVER_CHANGED = /\.(?:ndjson|(?:geo)?jsonl|gz|(?:geo)?parquet)$/i

/** Reports removed schemes, because a reference to them may have been forgotten. */
async function reportRemoved(
  name: string,
  fixed: Fixed['fixed'],
  { dryRun }: FixSettings,
  diagnostics: Context['diagnostics'],
): Promise<void> {
  const removed = fixed.filter(({ code }) => code === 'unused-scheme').map(({ pointer }) => `"${namesOf(pointer).at(-1)}"`)
  if (removed.length === 0) return
  const what = `the unused ${removed.length === 1 ? 'scheme' : 'schemes'} ${removed.join(', ')}`
  await diagnostics.note(forLine(`${name}: ${dryRun ? 'would remove' : 'removed'} ${what}`))
}

/** The fixes of one input, and the bytes that the linter reads instead of stdin. */
interface FixedInput extends Pick<Fixed, 'fixed'> {
  readonly read?: Uint8Array
}

async function fixFile(name: string, fixSettings: FixContext, settings: LintSettings, { io, diagnostics }: Context): Promise<FixedInput> {
  const seen = await seenFile(name)
  // The linter reads the file next and reports read errors.
  const bytes = seen && seen.size > DOCUMENT_LIMITS.other ? new Uint8Array() : await readFile(name).catch(() => new Uint8Array())
  const before = textOf(bytes) ?? ''
  const { fixed, text } = fixDocument(before, name, fixSettings, settings)
  if (fixed.length === 0) return { fixed }
  if (!seen) {
    await diagnostics.note(`${forLine(name)} is not fixed: it is a symbolic link`)
    return { fixed: [] }
  }
  if (fixSettings.dryRun) await showPatch(name, before, text, io)
  else await replaceFile(name, text, seen)
  return { fixed }
}

async function fixStdin(bytes: Uint8Array, fixSettings: FixContext, settings: LintSettings, io: Io): Promise<FixedInput> {
  const before = textOf(bytes)
  const { text = '', fixed = [] } = before === undefined ? {} : fixDocument(before, settings.stdinName, fixSettings, settings)
  const after = before === undefined ? bytes : Buffer.from(text)
  if (!fixSettings.dryRun) await write(io.stdout, after)
  else if (before !== undefined) await showPatch(settings.stdinName, before, text, io)
  return { fixed, read: fixSettings.dryRun ? bytes : after }
}

function fixDocument(text: string, document: string, { suggestions, only, usedElsewhere }: FixContext, { levels }: LintSettings): Fixed {
  const options = { preset: levels.preset, rules: levels.levelsFor(document, true), document, suggestions }
  return fixText(text, { ...options, ...(only && { only }), ...(usedElsewhere && { usedElsewhere }) })
}

/** Decodes a text with its byte order mark; undefined if it is not UTF-8. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Prints a unified diff for `git apply` and `patch -p1`; control characters are escaped on a terminal. */
async function showPatch(name: string, before: string, after: string, { stdout }: Io): Promise<void> {
  if (before === after) return
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import('diff')
  const path = forLine(name.replace(/^(?:\.?\/)+/, ''))
  const patch = createTwoFilesPatch(`a/${path}`, `b/${path}`, before, after, undefined, undefined, { headerOptions: FILE_HEADERS_ONLY })
  const shown = stdout.isTTY ? patch.replaceAll('\r\n', '\n').split('\t').map(forTerminal).join('\t') : patch
  await write(stdout, shown)
}

/** Collects the references of all inputs if unused schemes may be removed. */
async function referencesOf(
  inputs: readonly string[],
  { suggestions, only }: FixSettings,
  selection: Selection,
  { io, diagnostics }: Context,
  auth: () => Promise<Auth>,
): Promise<References | undefined> {
  if (!suggestions || !(only?.includes('unused-scheme') ?? true)) return undefined
  const references = new References()
  for await (const input of lintInputs(inputs, selection)) {
    const isRead = !('error' in input) && (await references.read(input.name, io, auth))
    if (!isRead) references.unread ??= input.name
  }
  if (references.unread !== undefined)
    await diagnostics.note(`unused schemes are kept: ${forLine(references.unread)} cannot be read and may use them`)
  return references
}

/** The references of all inputs; memory grows with the documents. */
class References {
  /** The first unread input; it may use any scheme. */
  unread: string | undefined
  readonly #outerRefs = new OuterRefs()
  /** URLs of the child documents of each document read, by its URL. */
  readonly #below = new Map<string, string[]>()

  /** Returns a test whether another document uses, or may use, a scheme of this input. */
  async usedElsewhere(name: string): Promise<UsedElsewhere> {
    const url = await urlOf(name)
    return (scheme, document) =>
      this.unread !== undefined || this.#outerRefs.has(scheme) || !this.#areRead(childrenOf(document).map((href) => resolved(href, url)))
  }

  /** Adds the references of an input; returns false if it cannot be read, is not JSON or is too large. */
  async read(name: string, io: Io, auth: () => Promise<Auth>): Promise<boolean> {
    const url = await urlOf(name)
    try {
      for await (const { task, oversized } of piecesOf({ name }, io, auth)) {
        const root = task.text === undefined ? task.value : jsonIn(task.text)
        if (oversized || typeof root !== 'object' || root === null) return false
        this.#outerRefs.add(outerRefsIn(root))
        const base = task.url ?? url
        const below = documentsIn(root).flatMap((document) => childrenOf(document).map((href) => resolved(href, base)))
        for (const key of new Set([url, task.url])) {
          if (key === undefined) continue
          const known = this.#below.get(key) ?? []
          for (const one of below) known.push(one)
          this.#below.set(key, known)
        }
      }
      return true
    } catch (error) {
      if (!isAuthError(error)) throw error
      return false
    }
  }

  /** Returns true if these documents and all documents below them were read. */
  #areRead(start: readonly string[]): boolean {
    const known = new Set(start)
    // A set that grows is visited to its end.
    for (const url of known) {
      const below = this.#below.get(url)
      if (!below) return false
      for (const one of below) known.add(one)
    }
    return true
  }
}

/** Returns the URL of an input; undefined for stdin and for a missing file. */
async function urlOf(name: string): Promise<string | undefined> {
  if (name === '-' || isAddress(name)) return resolved(name === '-' ? '' : name, undefined) || undefined
  const path = await realpath(name).catch(() => undefined)
  return path && pathToFileURL(path).href
}

/** Returns the URL of a link; an empty string, which is never read, if it is unknown. */
function resolved(href: string, base: string | undefined): string {
  if (href === '' || !canParseUrl(href, base)) return ''
  const url = new URL(href, base)
  url.hash = ''
  return url.href
}

/** Returns the documents of a list or wrapper, and the wrapper itself. */
function documentsIn(root: object): readonly StacDocument[] {
  if (Array.isArray(root)) return root.filter(isObject).flatMap(documentsIn)
  const document = root as StacDocument
  if (kindOf(document) !== 'wrapper') return [document]
  const inner = own(document, wrappedMember(document))
  return [document, ...(Array.isArray(inner) ? inner.filter(isObject) : [])]
}
