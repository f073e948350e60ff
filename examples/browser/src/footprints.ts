/** Where documents lie. */
import { kindOf, type StacDocument } from 'stac-auth'
import { type Box, boxIn, listIn, memberOf } from './fields.ts'

/** A geometry of a document, or a box where there is none. */
export interface Footprint {
  readonly geometry: unknown
  readonly box: Box | undefined
}

/** The documents in a list of an API that have a kind, in their order. */
export function documentsIn(document: StacDocument): readonly StacDocument[] {
  if (kindOf(document) !== 'wrapper') return []
  const inner = [...listIn(document, 'features'), ...listIn(document, 'collections')]
  return inner.filter((one): one is StacDocument => kindOf(one) !== 'unknown')
}

/** The footprint of the document, or those of the documents in it; an empty list for a document that lies nowhere. */
export function footprintsOf(document: StacDocument): readonly Footprint[] {
  const found = [document, ...documentsIn(document)].map((one): Footprint => {
    return { geometry: memberOf(one, 'geometry') ?? undefined, box: boxIn(one) }
  })
  return found.filter(({ geometry, box }) => geometry !== undefined || box !== undefined)
}
