/** Which schemes the inputs of a run use of each other: read before anything is mended, so that no input loses what another one needs. */
import { realpath } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import type { Auth } from '../auth/auth.ts'
import { isAuthError } from '../errors.ts'
import { childrenOf, type UsedElsewhere } from '../lint/fix/index.ts'
import { kindOf, type StacDocument, schemePlaces, wrappedMember } from '../stac/document.ts'
import { isObject, own } from '../stac/json.ts'
import { readRefs, targetsOf } from '../stac/target.ts'
import { type Piece, piecesOf } from './inputs/pieces.ts'
import type { Io } from './io.ts'
import { lintInputs, type Selection } from './lint-inputs.ts'
import { isAddress } from './read-document.ts'

/** The references of all inputs; memory grows with the documents that have others below them. */
export class References {
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
export async function referencesOf(
  inputs: readonly string[],
  selection: Selection,
  io: Io,
  auth: () => Promise<Auth>,
): Promise<References> {
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
