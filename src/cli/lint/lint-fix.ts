/** `lint --fix`: files are mended before they are linted, so that what is reported is what remains. */
import { readFile, realpath } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import type { Auth } from '../../auth/auth.ts'
import { isAuthError } from '../../errors.ts'
import { childrenOf, type Fixed, fixText, type UsedElsewhere } from '../../lint/fix/index.ts'
import { namesOf } from '../../lint/pointer.ts'
import { plural } from '../../lint/reporters/report.ts'
import { kindOf, type StacDocument, schemePlaces, wrappedMember } from '../../stac/document.ts'
import { DOCUMENT_LIMITS, isObject, own } from '../../stac/json.ts'
import { readRefs, targetsOf } from '../../stac/target.ts'
import { forLine, forTerminal } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import type { Failure } from '../exit-code.ts'
import { type Piece, piecesOf } from '../inputs/pieces.ts'
import { type Io, write } from '../io.ts'
import { isAddress, readInput } from '../read-document.ts'
import { replaceFile, seenFile } from '../replace-file.ts'
import { usageError } from '../usage.ts'
import { lintInputs, type Selection } from './lint-inputs.ts'
import type { FixingOptions } from './lint-options.ts'
import type { LintSettings } from './lint-run.ts'

/** What becomes of fixes. */
export interface Mending {
  readonly suggestions: boolean
  readonly only: readonly string[] | undefined
  /** Shown as a patch instead of being written. */
  readonly dryRun: boolean
  /** What stdout is for, when it is not for reports. */
  readonly taken: string | undefined
}

/** What is known about the other inputs besides. */
interface Informed extends Mending {
  readonly usedElsewhere?: UsedElsewhere
}

/** What the options say about fixes; undefined when nothing is to be mended. Errors: `USAGE`. */
export function mendingOf(inputs: readonly string[], options: FixingOptions): Mending | undefined {
  const { fix = false, fixSuggestions = false, fixDryRun = false, fixType, stdinFilename } = options
  if (!fix && !fixSuggestions && !fixDryRun) {
    if (fixType) throw usageError('--fix-type says which rules --fix, --fix-suggestions or --fix-dry-run mend')
    return undefined
  }
  const stdin = inputs.includes('-')
  if (stdin && stdinFilename === '-') throw usageError('standard input is mended only when it has a name', 'give --stdin-filename NAME')
  const taken = fixDryRun ? 'the patch' : stdin ? 'the mended text' : undefined
  return { suggestions: fixSuggestions, only: fixType, dryRun: fixDryRun, taken }
}

/** What mending left behind. */
export interface Mended {
  /** Where the linter reads standard input now. */
  readonly stdin: Readable
  readonly failures: readonly Failure[]
}

/**
 * Mends every file among the inputs, or shows how. Files that are no JSON text by themselves (lists of lines, packed files),
 * links and addresses stay as they are; mended standard input goes to stdout. A file that cannot be replaced is a failure.
 */
export async function mend(
  inputs: readonly string[],
  mending: Mending,
  settings: LintSettings,
  context: Context,
  auth: () => Promise<Auth>,
): Promise<Mended> {
  const { diagnostics } = context
  const failures: Failure[] = []
  const selection = { ...settings.selection, mayMiss: true }
  const { io, references } = await looked(inputs, mending, selection, context, auth)
  let stdin: Readable = io.stdin
  const counts = { findings: 0, files: 0 }
  for await (const input of lintInputs(inputs, selection)) {
    if ('error' in input || isAddress(input.name) || io.signal.aborted) continue
    try {
      const usedElsewhere = await references?.usedElsewhere(input.name)
      const all = { ...mending, ...(usedElsewhere && { usedElsewhere }) }
      const fixed = input.name === '-' ? await mendStdin(all, settings, io) : await mendFile(input.name, all, settings, io)
      if (fixed?.linked) await diagnostics.note(`${forLine(input.name)} is a link and stays as it is`)
      else if (fixed && fixed.mended.length > 0) {
        counts.files++
        counts.findings += fixed.mended.length
        await tellRemoved(input.name === '-' ? settings.stdinName : input.name, fixed, mending, diagnostics)
      }
      if (fixed?.read) stdin = Readable.from([fixed.read])
    } catch (error) {
      if (!isAuthError(error)) throw error
      failures.push({ name: input.name, error })
    }
  }
  await diagnostics.note(
    `${mending.dryRun ? 'would mend' : 'mended'} ${plural(counts.findings, 'finding')} in ${plural(counts.files, 'file')}`,
  )
  return { stdin, failures }
}

/** Names the schemes that were taken out: nothing may have referred to them only because it was forgotten. */
async function tellRemoved(name: string, { mended }: Fixed, { dryRun }: Mending, diagnostics: Context['diagnostics']): Promise<void> {
  const removed = mended.filter(({ code }) => code === 'unused-scheme').map(({ pointer }) => `"${namesOf(pointer).at(-1)}"`)
  if (removed.length === 0) return
  const what = `${removed.length === 1 ? 'the scheme' : 'the schemes'} ${removed.join(', ')}, to which nothing refers`
  await diagnostics.note(forLine(`${name}: ${dryRun ? 'would remove' : 'removed'} ${what}`))
}

/** What the inputs use of each other, where schemes may be taken out; then standard input is at hand for those who read it next. */
async function looked(
  inputs: readonly string[],
  { suggestions, only }: Mending,
  selection: Selection,
  { io, diagnostics }: Context,
  auth: () => Promise<Auth>,
): Promise<{ io: Io; references?: References }> {
  if (!suggestions || !(only?.includes('unused-scheme') ?? true)) return { io }
  const given = inputs.includes('-') ? await readInput('-', io).catch((error: unknown) => ({ error })) : undefined
  const stdin = () => (given ? again(given) : io.stdin)
  const references = await referencesOf(inputs, selection, { ...io, stdin: stdin() }, auth)
  if (references.unread !== undefined)
    await diagnostics.note(`unused schemes stay: ${forLine(references.unread)} cannot be read, and may use them`)
  return { io: { ...io, stdin: stdin() }, references }
}

/** The same bytes once more, or the same failure. */
function again(given: Uint8Array | { readonly error: unknown }): Readable {
  if (!('error' in given)) return Readable.from([given])
  return new Readable({
    read() {
      this.destroy(given.error as Error)
    },
  })
}

/** What mending one input led to. */
interface Outcome extends Fixed {
  /** What the linter is to read instead of standard input. */
  readonly read?: Uint8Array
  /** True for a link, which was left alone. */
  readonly linked?: boolean
}

async function mendFile(name: string, mending: Informed, settings: LintSettings, io: Io): Promise<Outcome | undefined> {
  const seen = await seenFile(name)
  if (seen && seen.size > DOCUMENT_LIMITS.other) return undefined
  // What cannot be read is told by the linter, which reads it next.
  const before = textOf(await readFile(name).catch(() => new Uint8Array()))
  const fixed = before === undefined ? undefined : mendText(before, name, mending, settings)
  if (before === undefined || !fixed || fixed.mended.length === 0) return undefined
  if (!seen) return { ...fixed, linked: true }
  if (mending.dryRun) await showPatch(name, before, fixed.text, io)
  else await replaceFile(name, fixed.text, seen)
  return fixed
}

async function mendStdin(mending: Informed, settings: LintSettings, io: Io): Promise<Outcome> {
  const bytes = await readInput('-', io)
  const before = textOf(bytes)
  const fixed = before === undefined ? { text: '', mended: [] } : mendText(before, settings.stdinName, mending, settings)
  const after = before === undefined ? bytes : Buffer.from(fixed.text)
  if (!mending.dryRun) await write(io.stdout, after)
  else if (before !== undefined) await showPatch(settings.stdinName, before, fixed.text, io)
  return { ...fixed, read: mending.dryRun ? bytes : after }
}

function mendText(text: string, document: string, { suggestions, only, usedElsewhere }: Informed, { levels }: LintSettings): Fixed {
  const options = { preset: levels.preset, rules: levels.levelsFor(document, true), document, suggestions }
  return fixText(text, { ...options, ...(only && { only }), ...(usedElsewhere && { usedElsewhere }) })
}

/** The text with its byte order mark; undefined when it is no UTF-8. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** A unified diff that `git apply` and `patch -p1` take. A terminal gets it without what it would obey. */
async function showPatch(name: string, before: string, after: string, { stdout }: Io): Promise<void> {
  if (before === after) return
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import('diff')
  const path = forLine(name.replace(/^(?:\.?\/)+/, ''))
  const patch = createTwoFilesPatch(`a/${path}`, `b/${path}`, before, after, undefined, undefined, { headerOptions: FILE_HEADERS_ONLY })
  const shown = stdout.isTTY ? patch.replaceAll('\r\n', '\n').split('\t').map(forTerminal).join('\t') : patch
  await write(stdout, shown)
}

/** The references of all inputs; memory grows with the documents that have others below them. */
class References {
  /** The first input that could not be read: what it uses is not known, so every scheme may be used. */
  unread: string | undefined
  /** Names that documents refer to and do not define themselves. */
  readonly #borrowed = new Set<string>()
  /** Addresses of the documents below a document, by its own address; an entry for every document that was read. */
  readonly #below = new Map<string, string[]>()

  /** Whether a scheme of the input of that name is used by another one, or may be. */
  async usedElsewhere(name: string): Promise<UsedElsewhere> {
    const url = await urlOf(name)
    return (scheme, document) =>
      this.unread !== undefined || this.#borrowed.has(scheme) || !this.#areRead(childrenOf(document).map((href) => resolved(href, url)))
  }

  /** Reads an input, or notes that it cannot be read. */
  async read(name: string, io: Io, auth: () => Promise<Auth>): Promise<void> {
    try {
      const url = await urlOf(name)
      for await (const piece of piecesOf({ name }, io, auth)) {
        if (!this.#add(piece, url)) this.unread ??= name
      }
    } catch (error) {
      if (!isAuthError(error)) throw error
      this.unread ??= name
    }
  }

  /** False for a piece that is not JSON, or too large. */
  #add({ task: { text, value, url: answered }, oversized }: Piece, url: string | undefined): boolean {
    if (oversized) return false
    const root = text === undefined ? value : parsed(text)
    if (typeof root !== 'object' || root === null) return false
    const documents = documentsIn(root)
    for (const document of documents) for (const name of borrowedBy(document)) this.#borrowed.add(name)
    const base = answered ?? url
    const below = documents.flatMap((document) => childrenOf(document).map((href) => resolved(href, base)))
    for (const key of new Set([url, answered])) if (key !== undefined) this.#note(key, below)
    return true
  }

  #note(url: string, below: readonly string[]): void {
    const known = this.#below.get(url)
    if (!known || known.length === 0) this.#below.set(url, below.length === 0 ? NONE : [...below])
    else for (const one of below) known.push(one)
  }

  /** True when these documents and all below them were read. */
  #areRead(start: readonly string[]): boolean {
    const waiting = [...start]
    const seen = new Set<string>()
    for (let url = waiting.pop(); url !== undefined; url = waiting.pop()) {
      if (seen.has(url)) continue
      seen.add(url)
      const below = this.#below.get(url)
      if (!below) return false
      waiting.push(...below)
    }
    return true
  }
}

/** Shared by the documents without others below them, which are the most. */
const NONE: string[] = []

/** The references of the inputs of a run. Standard input is read with `io.stdin`. */
async function referencesOf(inputs: readonly string[], selection: Selection, io: Io, auth: () => Promise<Auth>): Promise<References> {
  const references = new References()
  for await (const input of lintInputs(inputs, selection)) {
    if ('error' in input) references.unread ??= input.name
    else await references.read(input.name, io, auth)
  }
  return references
}

/** Where an input is; undefined for standard input, and for a file that is not there. */
async function urlOf(name: string): Promise<string | undefined> {
  if (name === '-') return undefined
  if (isAddress(name)) return withoutFragment(name, undefined)
  return realpath(name).then(
    (path) => pathToFileURL(path).href,
    () => undefined,
  )
}

/** The address of a link; where nobody can tell, one that was not read. */
function resolved(href: string, base: string | undefined): string {
  return href === '' ? '' : (withoutFragment(href, base) ?? '')
}

function withoutFragment(href: string, base: string | undefined): string | undefined {
  if (!URL.canParse(href, base)) return undefined
  const url = new URL(href, base)
  url.hash = ''
  return url.href
}

function parsed(text: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof text === 'string' ? text : new TextDecoder().decode(text))
  } catch {
    return undefined
  }
}

/** The documents of a list or a wrapper, and the wrapper itself. */
function documentsIn(root: object): readonly StacDocument[] {
  if (Array.isArray(root)) return root.filter(isObject).flatMap(documentsIn)
  const document = root as StacDocument
  if (kindOf(document) !== 'wrapper') return [document]
  const inner = own(document, wrappedMember(document))
  return [document, ...(Array.isArray(inner) ? inner.filter(isObject) : [])]
}

/** The names that a document refers to, also from its schemes, and does not define where it has its schemes. */
function* borrowedBy(document: StacDocument): Generator<string> {
  const maps = schemePlaces(document).flatMap(({ schemes }) => (isObject(schemes) ? [schemes] : []))
  const isOwn = (name: string) => maps.some((map) => Object.hasOwn(map, name))
  const inner = own(document, wrappedMember(document))
  const alone = Array.isArray(inner) ? { ...document, [wrappedMember(document)]: [] } : document
  for (const { refs } of targetsOf(alone)) for (const name of refs) if (!isOwn(name)) yield name
  for (const map of maps)
    for (const scheme of Object.values(map)) for (const name of readRefs(scheme, '').refs) if (!isOwn(name)) yield name
}
