import { own } from '../../../stac/json.ts'
import { schemeOfType, valueAt } from '../../pointer.ts'
import { typeFrom } from '../../rules/scheme-type.ts'
import { type Fix, remove, renameToNear, replaceWithNear } from '../fix.ts'

const addType: Fix = (text, { pointer, root }) => {
  const scheme = schemeOfType(pointer)
  const present = pointer !== scheme
  const type = typeFrom(valueAt(root, scheme))
  if (type === undefined) return undefined
  return present ? text.replace(pointer, type) : text.insert(pointer, 'type', type)
}

/** `bearer` as a type says which word of HTTP is meant. */
const repairType: Fix = (text, { pointer, near, value, root }) => {
  const scheme = pointer.slice(0, -'/type'.length)
  if (near === undefined) return undefined
  const word = near === 'http' && value !== 'http' && /^(?:basic|bearer|digest)$/.test(String(value)) ? String(value) : undefined
  const added = word !== undefined && own(valueAt(root, scheme), 'scheme') === undefined ? text.insert(scheme, 'scheme', word) : []
  return [...(text.replace(pointer, near) ?? []), ...(added ?? [])]
}

const appendDiscovery: Fix = (text, { pointer, value }) =>
  typeof value === 'string' && !/[?#]/.test(value)
    ? text.replace(pointer, `${value.replace(/\/$/, '')}/.well-known/openid-configuration`)
    : undefined

/** Fixes of the section `schemes`, by rule id. */
export const schemes: Readonly<Record<string, Fix>> = {
  'missing-type': addType,
  'type-near-miss': repairType,
  'field-type': (text, { pointer, value }) => (value === 'true' || value === 'false' ? text.replace(pointer, value === 'true') : undefined),
  'misapplied-field': remove,
  'unknown-field': renameToNear,
  'apikey-in': replaceWithNear,
  'http-scheme-unregistered': replaceWithNear,
  'http-scheme-case': (text, { pointer, value }) => text.replace(pointer, String(value).toLowerCase()),
  'openid-discovery-url': appendDiscovery,
}
