/** What is linted by itself: a document, each one of an array, each one in a wrapper and what is around them. */
import { kindOf, type StacDocument, wrappedMember } from '../stac/document.ts'
import { isObject, own } from '../stac/json.ts'
import type { Declaration } from '../stac/version.ts'
import type { Survey } from './survey.ts'

/** A document, or a wrapper without its documents. */
export interface Part {
  readonly value: unknown
  readonly at: string
  readonly depth: number
  /** Member of a wrapper that holds its documents. */
  readonly inside?: 'features' | 'collections'
  readonly wrapper?: StacDocument
}

/** The parts of a document, in their order; of an array the parts of its elements. */
export function partsOf(document: unknown): readonly Part[] {
  return Array.isArray(document) ? document.flatMap((value, index) => partsIn(value, `/${index}`, 2)) : partsIn(document, '', 1)
}

function partsIn(value: unknown, at: string, depth: number): Part[] {
  if (!isObject(value) || kindOf(value) !== 'wrapper') return [{ value, at, depth }]
  const inside = wrappedMember(value)
  const documents = own(value, inside)
  const around: Part = { value, at, depth, inside }
  if (!Array.isArray(documents)) return [around]
  return [around, ...documents.map((inner, index) => ({ value: inner, at: `${at}/${inside}/${index}`, depth: depth + 2, wrapper: value }))]
}

/** True for a document that neither uses nor declares the extension: no rule has anything to say about it. */
export function isSilent({ fields }: Pick<Survey, 'fields'>, declarations: readonly Declaration[]): boolean {
  return fields === 0 && declarations.length === 0
}
