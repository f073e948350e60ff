import { ConfigurationError } from '../errors.ts'
import { isObject } from '../stac/json.ts'
import { nearMiss } from '../stac/near.ts'
import type { CredentialObject, CredentialSet, SourceOf } from './credential.ts'
import { invalid } from './invalid.ts'
import type { Registry } from './registry.ts'

/** The entries of all sources as one set. Errors: `CONFIG_INVALID`. */
export function flatten(source: SourceOf<CredentialObject>): CredentialSet<CredentialObject> {
  if (Array.isArray(source)) {
    const sets = (source as readonly SourceOf<CredentialObject>[]).map(flatten)
    return { credentials: sets.flatMap((set) => set.credentials), preferred: sets.flatMap((set) => set.preferred ?? []) }
  }
  if (!isObject(source)) throw new ConfigurationError('CONFIG_INVALID', 'credentials must be entries, sets of entries or lists of them')
  // An entry may have a field of that name: the ready-made text of `http`.
  if (!('credentials' in source) || 'type' in source) return { credentials: [source as CredentialObject] }
  const { credentials, preferred } = source
  if (!Array.isArray(credentials)) throw invalid('/credentials', 'must be a list of entries')
  if (preferred !== undefined && !isTexts(preferred)) throw invalid('/preferred', 'must be a list of ids')
  return preferred === undefined ? { credentials } : { credentials, preferred }
}

/**
 * Checks what can be told of the credentials before a strategy is loaded: that each has a known type and says where it may go.
 *
 * Errors: `CONFIG_INVALID` with the pointer of the field.
 */
export function checkShapes({ credentials }: CredentialSet<CredentialObject>, registry: Registry): void {
  credentials.forEach((input: unknown, index) => {
    const at = `/credentials/${index}`
    const where = `of credentials[${index}]`
    if (!isObject(input)) throw new ConfigurationError('CONFIG_INVALID', `credentials[${index}] must be an object`, { pointer: at })
    const type = String(input.type)
    const { types } = registry
    if (!types.includes(type)) {
      const meant = nearMiss(type, types)
      throw invalid(`${at}/type`, `${where} must be one of ${types.join(', ')}`, meant && `did you mean "${meant}"?`)
    }
    if (input.sendTo !== undefined || !registry.needsSendTo(type)) return
    throw invalid(`${at}/sendTo`, `${where} is missing`)
  })
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}
