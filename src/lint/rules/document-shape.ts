import { namesOf, valueAt } from '../pointer.ts'
import { rule } from '../rule.ts'

/** The objects and lists that contain fields of the extension have the JSON types of STAC. */
export const documentShape = rule('document-shape', 'placement', {
  'document-shape': {
    levels: ['error', 'error', 'error'],
    messages: {
      type: '{member} is {actual}: it must be {expected}',
      other: '{member} does not satisfy the JSON Schema of the extension ({keyword})',
    },
    // Listed last: whatever no other rule takes is reported here rather than lost.
    claim({ pointer, expected, keyword }, { at, object }, report) {
      const data = { member: memberAt(pointer), actual: typeOf(valueAt(object, pointer)), keyword }
      report(at + pointer, expected ? 'type' : 'other', { ...data, expected: expected && withArticle(expected) })
      return true
    },
  },
})

/** Returns the name of a member for people, such as `asset "data"` or `link 3`. */
function memberAt(pointer: string): string {
  const [name, parent = ''] = namesOf(pointer).reverse()
  if (name === undefined) return 'the document'
  if (parent === 'links') return `link ${name}`
  const [, kind] = /^(item_asset|asset|alternate)s?$/.exec(parent) ?? []
  return kind === undefined ? `"${name}"` : `${kind.replace('_', ' ')} "${name}"`
}

/** Returns the JSON type of a value for people. */
export function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return withArticle(Array.isArray(value) ? 'array' : typeof value)
}

function withArticle(type: string): string {
  return `${/^[ao]/.test(type) ? 'an' : 'a'} ${type.replace(',', ' or ')}`
}
