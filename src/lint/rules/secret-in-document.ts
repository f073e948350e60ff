import { isObject, pointer as pointerTo } from '../../stac/document.ts'
import { valueAt } from '../pointer.ts'
import { type Report, rule } from '../rule.ts'
import { hasPassword, isSecret, looksSecret, secretParameter } from '../secrets.ts'

/** A document, which is public, contains no secrets. */
export const secretInDocument = rule('secret-in-document', 'schemes', {
  'secret-in-document': {
    levels: ['error', 'error', 'off'],
    messages: { secret: '"{field}" looks like a secret that everyone can read here: remove and revoke it' },
    target(target, report) {
      const { href, object, hasSchemes } = target
      if (href !== undefined && hasPassword(href)) report(`${target.pointer}/href`, 'secret', { field: 'href' })
      if (hasSchemes) search(object['auth:schemes'], 'auth:schemes', `${target.pointer}/auth:schemes`, report)
    },
    document({ map, maps, object, misplacedFields, at }, report) {
      for (const { value, pointer } of maps)
        for (const name in value) search(value[name], name, pointerTo(pointer, name), report, !isObject(value[name]))
      // Values in the wrong place, or of the wrong type, are not read as schemes, but they are published.
      for (const { field, pointer } of misplacedFields) search(valueAt(object, pointer.slice(at.length)), field, pointer, report)
      if (map && !isObject(map.value)) search(map.value, 'auth:schemes', map.pointer, report)
    },
  },
})

/** Members that describe tokens, where a name alone does not make its value a secret. */
const SPEAKING = new Set(['scopes', 'schema'])

/** Reports secrets in a value; elements of a list have the name of the list. */
function search(value: unknown, field: string, at: string, report: Report, speaking = false): void {
  if (typeof value === 'string') {
    if (isSecretText(field, value, speaking)) report(at, 'secret', { field })
  } else if (typeof value === 'object' && value !== null) {
    for (const name in value) {
      const inner: unknown = value[name as keyof typeof value]
      const member = Array.isArray(value) ? field : name
      const isFree = speaking || SPEAKING.has(member)
      // Pointers cost more than the tests of nearly all texts.
      if (typeof inner === 'object' || (typeof inner === 'string' && isSecretText(member, inner, isFree)))
        search(inner, member, pointerTo(at, name), report, isFree)
    }
  }
}

function isSecretText(field: string, value: string, speaking: boolean): boolean {
  if (isAddress(field, value)) return hasSecret(value)
  return speaking ? looksSecret(value) : isSecret(field, value)
}

function isAddress(field: string, value: string): boolean {
  return value.includes('://') && field !== 'description'
}

function hasSecret(address: string): boolean {
  return hasPassword(address) || secretParameter(address) !== undefined || looksSecret(address)
}
