/** What a fix is: from a finding to edits of the text. */
import type { Edit, JsonText } from '../../stac/json-text.ts'

/** A finding and where it stands. */
export interface FixPlace {
  /** Pointer of the finding, from the root of what was read. */
  readonly pointer: string
  /** What stands there; undefined when it is missing. */
  readonly value: unknown
  /** What was probably meant. */
  readonly near: string | undefined
  /** The parsed document that the finding is about, and its place in what was read. */
  readonly document: unknown
  readonly at: string
  /** All that was read. */
  readonly root: unknown
}

/** The edits that mend a finding; undefined when it cannot be mended without a person. */
export type Fix = (text: JsonText, place: FixPlace) => readonly Edit[] | undefined

/** Puts what was probably meant in the place of what stands there. */
export const replaceWithNear: Fix = (text, { pointer, near }) => (near === undefined ? undefined : text.replace(pointer, near))

/** Gives the member the name that was probably meant. */
export const renameToNear: Fix = (text, { pointer, near }) => (near === undefined ? undefined : text.rename(pointer, near))

/** Takes out what stands there. */
export const remove: Fix = (text, { pointer }) => text.remove(pointer)
