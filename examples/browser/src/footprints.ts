/** Where documents lie. */
import type { StacDocument } from 'stac-auth'
import { type Box, boxIn, documentsIn, memberOf } from './fields.ts'

/** A geometry of a document, or a box where there is none. */
export interface Footprint {
  readonly geometry: unknown
  readonly box: Box | undefined
}

/** The footprint of the document, or those of the documents in it; an empty list for a document that lies nowhere. */
export function footprintsOf(document: StacDocument): readonly Footprint[] {
  return [document, ...documentsIn(document)].map(footprintOf).filter(({ geometry, box }) => geometry !== undefined || box !== undefined)
}

export function footprintOf(document: StacDocument): Footprint {
  return { geometry: memberOf(document, 'geometry') ?? undefined, box: boxIn(document) }
}
