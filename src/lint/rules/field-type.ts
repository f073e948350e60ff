import { valueAt } from '../pointer.ts'
import { rule } from '../rule.ts'

/** Fields have the JSON types that the extension gives them. */
export const fieldType = rule('field-type', 'schemes', {
  'field-type': {
    levels: ['error', 'error', 'error'],
    messages: { type: '"{field}" must be {type}' },
    fix: 'safe',
    claim({ keyword, place, pointer, name, expected }, { at, object }, report) {
      if (keyword !== 'type' || place !== 'field' || !expected) return false
      const quoted = expected === 'boolean' && /^(?:true|false)$/.test(String(valueAt(object, pointer)))
      report(at + pointer, 'type', { field: name, type: `${expected.startsWith('o') ? 'an' : 'a'} ${expected}`, fix: quoted && 'safe' })
      return true
    },
  },
})
