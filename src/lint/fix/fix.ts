/** What a fix is: from a finding to edits of the text. */

import { own } from '../../stac/document.ts'
import type { Edit, JsonText } from '../../stac/json-text.ts'
import type { Problem } from '../problem.ts'
import { childrenOf } from '../rules/unused-scheme.ts'
import { FINDING_LIMIT } from '../runner.ts'

/** A finding and its place. */
export interface FixPlace {
  /** Pointer of the finding, from the root of what was read. */
  readonly pointer: string
  /** The value there; undefined if it is missing. */
  readonly value: unknown
  /** What was probably meant. */
  readonly near: string | undefined
  /** The parsed document that the finding is about, and its place in what was read. */
  readonly document: unknown
  readonly at: string
  /** All that was read. */
  readonly root: unknown
}

/** Returns the edits that fix a finding; undefined if it cannot be fixed automatically. */
export type Fix = (text: JsonText, place: FixPlace) => readonly Edit[] | undefined

/** Replaces the value by what was probably meant. */
export const replaceWithNear: Fix = (text, { pointer, near }) => (near === undefined ? undefined : text.replace(pointer, near))

/** Gives the member the name that was probably meant. */
export const renameToNear: Fix = (text, { pointer, near }) => (near === undefined ? undefined : text.rename(pointer, near))

/** Removes the value. */
export const remove: Fix = (text, { pointer }) => text.remove(pointer)

/** Pointers of the object in which a document has its `auth:schemes`, and of that map. */
interface MapPlace {
  readonly holder: string
  readonly map: string
}

/** Where a document has, or would have, its schemes. */
export function mapPlaceOf(document: unknown, at: string): MapPlace {
  const holder = own(document, 'type') === 'Feature' ? `${at}/properties` : at
  return { holder, map: `${holder}/auth:schemes` }
}

/** Takes a member out and adds it to another object under a name. */
export function moveInto(text: JsonText, from: string, to: string, name: string, value: unknown): readonly Edit[] | undefined {
  const removed = text.remove(from)
  const added = text.insert(to, name, value)
  return removed && added && [...removed, ...added]
}

/** Says of a scheme whether other documents may use it. */
export type UsedElsewhere = (scheme: string, document: unknown) => boolean

/** Without knowledge of other documents: documents below may use all schemes. */
export const mayBeUsed: UsedElsewhere = (_scheme, document) => childrenOf(document).length > 0

/**
 * True for a finding `unused-scheme` that can be fixed without a loss: the scheme has no error, which may be why nothing refers to
 * it, the document has no `auth:refs` that cannot be read, and all its findings are known.
 */
export function isRemovable({ pointer }: Problem, problems: readonly Problem[]): boolean {
  const errors = problems.filter(({ code, severity }) => severity === 'error' && code !== 'unused-scheme')
  const isBroken = errors.some((error) => error.pointer === pointer || error.pointer.startsWith(`${pointer}/`))
  return !isBroken && !errors.some(({ code }) => code === 'refs-shape') && problems.length < FINDING_LIMIT
}
