/** What is linted by itself: a document, each one of an array, each one in a wrapper and what is around them. */
import { kindOf, type StacDocument, wrappedMember } from '../stac/document.ts'
import { isObject, own } from '../stac/json.ts'
import { type DocumentType, likelyType } from '../stac/recognition.ts'
import type { Declaration } from '../stac/version.ts'
import { DEPTH_LIMIT, type Survey } from './survey.ts'

/** A document, or a wrapper without its documents. */
export interface Part {
  readonly value: unknown
  readonly at: string
  readonly depth: number
  /** Member of a wrapper that holds its documents. */
  readonly inside?: 'features' | 'collections'
  readonly wrapper?: StacDocument
  /** What its `type` should be, where that is wrong and the extension is used. */
  readonly likely?: DocumentType
}

/** The parts of a document, in their order; of an array the parts of its elements. */
export function partsOf(document: unknown): readonly Part[] {
  return Array.isArray(document) ? document.flatMap((value, index) => partsIn(value, `/${index}`, 2)) : partsIn(document, '', 1)
}

function partsIn(value: unknown, at: string, depth: number, outer?: StacDocument): Part[] {
  const likely = isObject(value) ? likelyType(value) : undefined
  const around: Part = { value, at, depth, ...(outer && { wrapper: outer }), ...(likely && { likely }) }
  // Below the limit nothing is read, and what stands there is not worth a stack that overflows.
  if (!isObject(value) || !(kindOf(value) === 'wrapper' || likely === 'FeatureCollection') || depth > DEPTH_LIMIT) return [around]
  const inside = wrappedMember(value)
  const documents = own(value, inside)
  if (!Array.isArray(documents)) return [{ ...around, inside }]
  return [{ ...around, inside }, ...documents.flatMap((inner, index) => partsIn(inner, `${at}/${inside}/${index}`, depth + 2, value))]
}

/** True for a document that neither uses nor declares the extension: no rule has anything to say about it. */
export function isSilent({ fields }: Pick<Survey, 'fields'>, declarations: readonly Declaration[]): boolean {
  return fields === 0 && declarations.length === 0
}
