import { valueAt } from '../pointer.ts'
import type { Rule, RuleDocs } from '../rule.ts'

/** Fields have the JSON types that the extension gives them. */
export const fieldType: Rule = {
  meta: { id: 'field-type', section: 'schemes' },
  cases: [
    {
      meta: {
        code: 'field-type',
        severity: { recommended: 'error', strict: 'error', schema: 'error' },
        messages: { type: '"{field}" must be {type}' },
        fix: 'safe',
      },
      claim({ keyword, place, pointer, name, expected }, { at, object }, report) {
        if (keyword !== 'type' || place !== 'field' || !expected) return false
        const quoted = expected === 'boolean' && /^(?:true|false)$/.test(String(valueAt(object, pointer)))
        report(at + pointer, 'type', { field: name, type: `${expected.startsWith('o') ? 'an' : 'a'} ${expected}`, fix: quoted && 'safe' })
        return true
      },
    },
  ],
}

export const docs: RuleDocs = {
  'field-type': {
    part: 'authentication-scheme-object',
    why: 'Clients in different languages convert a wrong type differently: "false" as a text is true in some of them.',
    repair: [
      'Write the value in the type that the message names: booleans and numbers without quotes, maps as { }.',
      'Correct the program that writes the document.',
    ],
  },
}
