import { rule } from '../rule.ts'

/** The objects and lists that contain fields of the extension have the JSON types of STAC. */
export const documentShape = rule('document-shape', 'placement', {
  'document-shape': {
    levels: ['error', 'error', 'error'],
    messages: {
      type: '{member} must be {expected}',
      other: '{member} does not satisfy the JSON Schema of the extension ({keyword})',
    },
    // Listed last: whatever no other rule takes is reported here rather than lost.
    claim({ pointer, name, expected, keyword }, { at }, report) {
      const member = name ? `"${name}"` : 'the document'
      report(at + pointer, expected ? 'type' : 'other', { member, expected: expected && withArticle(expected), keyword })
      return true
    },
  },
})

function withArticle(type: string): string {
  return `${/^[ao]/.test(type) ? 'an' : 'a'} ${type.replace(',', ' or ')}`
}
