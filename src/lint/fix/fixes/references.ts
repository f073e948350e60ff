import { schemePlaces } from '../../../stac/document.ts'
import { isObject, own } from '../../../stac/json.ts'
import { valueAt } from '../../pointer.ts'
import { type Fix, remove, replaceWithNear } from '../fix.ts'
import { mapPlaceOf } from '../move.ts'

/** The definition of the FeatureCollection, or list of Collections, goes into the document itself as well. */
const copyFromWrapper: Fix = (text, { value, document, at, root }) => {
  const wrapper = valueAt(root, at.replace(/\/[^/]*\/[^/]*$/, ''))
  if (typeof value !== 'string' || !isObject(wrapper)) return undefined
  const scheme = schemePlaces(wrapper)
    .map(({ schemes }) => own(schemes, value))
    .find((found) => found !== undefined)
  const { holder, map } = mapPlaceOf(document, at)
  if (scheme === undefined) return undefined
  return valueAt(root, map) === undefined ? text.insert(holder, 'auth:schemes', { [value]: scheme }) : text.insert(map, value, scheme)
}

/** Fixes of the section `references`, by rule id. */
export const references: Readonly<Record<string, Fix>> = {
  'refs-shape': (text, { pointer, value }) => (typeof value === 'string' ? text.wrap(pointer) : undefined),
  'dangling-ref': replaceWithNear,
  'scheme-outside-document': copyFromWrapper,
  'duplicate-ref': remove,
  'unused-scheme': remove,
  'foreign-host-ref': remove,
}
