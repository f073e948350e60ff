/** Names of schemes in an open document: what a scheme needs, and the names that `auth:refs` may have. */
import type { CompletionItem, Hover } from 'vscode-languageserver/node'
import type { TextDocument } from 'vscode-languageserver-textdocument'
import type { Auth } from '../../../auth/auth.ts'
import { valueAt } from '../../../lint/pointer.ts'
import { claimsStac, isObject, ownString, pointer, type StacDocument } from '../../../stac/document.ts'
import { type Path, type Span, scan } from '../../../stac/json-text.ts'
import { findScheme, schemeMaps, type Target, targetsOf } from '../../../stac/target.ts'
import { forLine, forTerminal } from '../../../text/sanitize.ts'
import { describeTargets, needsOfProviders, providerLine } from '../../known-providers.ts'
import { jsonIn } from '../../read-document.ts'

/** A name of a scheme in the text: a key of `auth:schemes`, or an element of `auth:refs`. */
interface NamedScheme {
  readonly name: string
  readonly span: Span
  /** Pointer of the object that has the `auth:refs`; undefined for a key of `auth:schemes`. */
  readonly refsOf?: string
  /** Pointer of the scheme, or of the element. */
  readonly at: string
}

/** Returns what the scheme at an offset needs, as `explain` says it for the first target that refers to it; undefined for other text. */
export async function hoverAt(document: TextDocument, offset: number, auth: () => Promise<Auth>): Promise<Hover | undefined> {
  const text = document.getText()
  const named = schemeNameAt(text, offset)
  const root = named && jsonIn(text)
  if (!named || !isObject(root) || !claimsStac(root)) return undefined
  const found = targetOf(root, named)
  const scheme = found.scheme === undefined ? undefined : valueAt(root, found.scheme)
  const lines = found.target ? await explained(root, found.target, found.ref ?? named.name, auth) : []
  const type = ownString(scheme, 'type')
  const description = ownString(scheme, 'description')
  const head = `${forLine(named.name)}${type === undefined ? '' : ` (${forLine(type)})`}`
  const value = [head, ...(description ? [forTerminal(description)] : []), ...lines].join('\n\n')
  const range = { start: document.positionAt(named.span.start), end: document.positionAt(named.span.end) }
  // Text of a catalog is not formatted: it could contain links and commands.
  return { contents: { kind: 'plaintext', value }, range }
}

async function explained(root: StacDocument, target: Target, name: string, auth: () => Promise<Auth>): Promise<readonly string[]> {
  const [described] = await describeTargets({ document: root }, await auth(), [target])
  if (!described) return []
  const { explanation, recognized } = described
  const { code, message = '', hint } = explanation.refs.find(({ ref }) => ref === name) ?? explanation
  if (code === undefined) return explanation.signature ? [] : ['needs no credential']
  const needs = needsOfProviders([recognized]).map((need) => providerLine(need))
  const advice = code === 'NO_CREDENTIAL' && needs.length > 0 ? needs : hint === undefined ? [] : [hint]
  return [message, ...advice].map(forTerminal)
}

/** A target that refers to a scheme, by that name, and the pointer of the scheme. */
interface Referring {
  readonly target?: Target
  readonly ref?: string
  readonly scheme?: string
}

function targetOf(root: StacDocument, { name, at, refsOf }: NamedScheme): Referring {
  if (refsOf === undefined) return referringTo(root, at)
  const siblings = schemesAround(refsOf)
  if (siblings !== undefined) return referringTo(root, pointer(siblings, name))
  const target = [...targetsOf(root)].find((one) => one.pointer === refsOf)
  if (!target) return {}
  const scheme = findScheme(mapsFor(target), name)?.pointer
  if (target.kind === 'item_asset') return scheme === undefined ? {} : referringTo(root, scheme)
  return { target, ref: name, ...(scheme !== undefined && { scheme }) }
}

function referringTo(root: StacDocument, scheme: string): Referring {
  for (const target of targetsOf(root)) {
    if (target.kind === 'item_asset') continue
    const ref = target.refs.find((name) => findScheme(mapsFor(target), name)?.pointer === scheme)
    if (ref !== undefined) return { target, ref, scheme }
  }
  return { scheme }
}

function mapsFor({ scope, object, pointer: at, kind }: Target) {
  return schemeMaps(scope, { object, pointer: at, describesItems: kind === 'item_asset' })
}

/** Returns the pointer of the `auth:schemes` around a scheme; undefined for the pointer of anything else. */
function schemesAround(scheme: string): string | undefined {
  return /^(.*\/auth:schemes|.*\/summaries\/auth:schemes\/\d+)\/[^/]*$/.exec(scheme)?.[1]
}

/** Returns the name of a scheme at an offset. The text may be malformed behind it. */
function schemeNameAt(text: string, offset: number): NamedScheme | undefined {
  let found: NamedScheme | undefined
  const isAt = ({ start, end }: Span) => start <= offset && offset <= end
  const written = ({ start, end }: Span) => JSON.parse(text.slice(start, end)) as unknown
  scan(text, {
    member(path, span) {
      if (!isAt(span)) return
      const at = pointer('', ...path)
      if (schemesAround(at) !== undefined) found = { name: String(path.at(-1)), span, at }
    },
    value(path, span) {
      const level = path.lastIndexOf('auth:refs')
      if (text[span.start] !== '"' || !isAt(span) || level < 0 || level < path.length - 2) return
      found = { name: String(written(span)), span, at: pointer('', ...path), refsOf: pointer('', ...path.slice(0, level)) }
    },
  })
  return found
}

/** The `auth:refs` around an offset, and what is already written there. */
interface OpenRefs {
  /** Pointer of the object that has them. */
  readonly refsOf: string
  /** The text with an empty list in their place. */
  readonly without: string
  readonly present: readonly string[]
  /** What a name replaces, and whether its quotes are there. */
  readonly span: Span
  readonly quotes: { readonly before: string; readonly after: string }
}

/** Returns the names of the schemes of the document that `auth:refs` at an offset can have. The document must be JSON but for that list. */
export function namesAt(document: TextDocument, offset: number): CompletionItem[] {
  const open = refsAround(document.getText(), offset)
  const root = open && jsonIn(open.without)
  if (!open || !isObject(root)) return []
  const range = { start: document.positionAt(open.span.start), end: document.positionAt(open.span.end) }
  const found = Object.entries(schemesFor(root, open.refsOf)).filter(([name]) => !open.present.includes(name))
  return found.map(([name, scheme]) => {
    const type = ownString(scheme, 'type')
    const description = ownString(scheme, 'description')
    const written = JSON.stringify(name).slice(1, -1)
    return {
      label: forLine(name),
      // A value of an enumeration.
      kind: 12,
      ...(type !== undefined && { detail: forLine(type) }),
      ...(description !== undefined && { documentation: { kind: 'plaintext', value: forTerminal(description) } }),
      filterText: `${open.quotes.before}${written}`,
      textEdit: { range, newText: `${open.quotes.before}${written}${open.quotes.after}` },
    }
  })
}

/** Returns the schemes that the references of an object can name: those of its document and of the list around it. */
function schemesFor(root: StacDocument, refsOf: string): Readonly<Record<string, unknown>> {
  const around = schemesAround(refsOf)
  if (around !== undefined) {
    const own = refsOf.slice(around.length)
    const siblings = valueAt(root, around)
    return Object.fromEntries(Object.entries(isObject(siblings) ? siblings : {}).filter(([name]) => pointer('', name) !== own))
  }
  const target = [...targetsOf(root)].find((one) => one.pointer === refsOf)
  const maps = target ? mapsFor(target).map(({ schemes }) => schemes) : []
  // The nearest definition of a name counts.
  return Object.assign({}, ...maps.filter(isObject).toReversed())
}

/** Strings that are separated by commas, and the beginning of another one. */
const NAMES_BEFORE = /^(?:\s*"(?:[^"\\\n]|\\.)*"\s*,)*\s*(?<open>"(?:[^"\\\n]|\\.)*)?$/

/** The rest of a string with its quote. */
const REST = /^(?:[^"\\\n\]}]|\\.)*("?)/

const NAMES_AFTER = /^(?:\s|,|"(?:[^"\\\n]|\\.)*")*\]/

function refsAround(text: string, offset: number): OpenRefs | undefined {
  const before = text.slice(0, offset)
  const { path, end } = openListIn(before)
  const start = end === undefined ? -1 : before.indexOf('[', end)
  if (path?.at(-1) !== 'auth:refs' || start < 0) return undefined
  const match = NAMES_BEFORE.exec(before.slice(start + 1))
  if (!match) return undefined
  const { open } = match.groups ?? {}
  const behind = open === undefined ? null : REST.exec(text.slice(offset))
  const [rest = '', quote = ''] = behind ?? []
  const closed = offset + rest.length
  const [after = ''] = NAMES_AFTER.exec(text.slice(closed)) ?? []
  const others = `${before.slice(start + 1, open === undefined ? offset : offset - open.length)}${after}`
  return {
    refsOf: pointer('', ...path.slice(0, -1)),
    without: `${text.slice(0, start)}[]${text.slice(closed + after.length)}`,
    present: [...others.matchAll(/"(?:[^"\\\n]|\\.)*"/g)].map(([one]) => String(jsonIn(one))),
    span: { start: open === undefined ? offset : offset - open.length + 1, end: quote === '"' ? closed - 1 : closed },
    quotes: { before: open === undefined ? '"' : '', after: quote === '"' ? '' : '"' },
  }
}

/** Returns the path of the object or list that is open at the end of a text, and the end of its name. */
function openListIn(text: string): { readonly path?: Path; readonly end?: number } {
  const open: Path[] = []
  const ends: number[] = []
  scan(text, {
    member(path, { end }) {
      ends[path.length] = end
    },
    enter(path) {
      open.push([...path])
      return true
    },
    value(path) {
      if (open.at(-1)?.length === path.length) open.pop()
    },
  })
  const last = open.at(-1)
  const nameEnd = last && ends[last.length]
  return { ...(last && { path: last }), ...(nameEnd !== undefined && { end: nameEnd }) }
}
