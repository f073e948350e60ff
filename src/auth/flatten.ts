import { ConfigurationError } from '../errors.ts'
import { isObject } from '../stac/json.ts'
import type { CredentialInput, CredentialSet, CredentialSource } from './credential.ts'
import { invalid } from './invalid.ts'

/** The entries of all sources as one set. Errors: `CONFIG_INVALID`. */
export function flatten(source: CredentialSource): CredentialSet {
  if (Array.isArray(source)) {
    const sets = (source as readonly CredentialSource[]).map(flatten)
    return { credentials: sets.flatMap((set) => set.credentials), preferred: sets.flatMap((set) => set.preferred ?? []) }
  }
  if (!isObject(source)) throw new ConfigurationError('CONFIG_INVALID', 'credentials must be entries, sets of entries or lists of them')
  // An entry may have a field of that name: the ready-made text of `http`.
  if (!('credentials' in source) || 'type' in source) return { credentials: [source as CredentialInput] }
  const { credentials, preferred } = source
  if (!Array.isArray(credentials)) throw invalid('/credentials', 'must be a list of entries')
  if (preferred !== undefined && !isTexts(preferred)) throw invalid('/preferred', 'must be a list of ids')
  return preferred === undefined ? { credentials } : { credentials, preferred }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}
