import { isObject, ownString, pointer as pointerTo } from '../../stac/json.ts'
import type { Rule } from '../rule.ts'
import { isDefinedType } from '../vocabulary.ts'

/** Schemes stand side by side and refer to each other. */
export const nestedScheme: Rule = {
  meta: {
    id: 'nested-scheme',
    section: 'schemes',
    severity: { recommended: 'error', strict: 'error', schema: 'off' },
    messages: { nested: 'schemes cannot be nested; use auth:refs' },
  },
  scheme({ value, type, pointer }, report) {
    if (!isDefinedType(type)) return
    for (const field in value) {
      const inner = value[field]
      if (field !== 'flows' && isObject(inner) && isDefinedType(ownString(inner, 'type'))) report(pointerTo(pointer, field), 'nested')
    }
  },
}

/** Why the rule exists, for its page. */
export const docs = 'A scheme inside of another is not read. From 1.2.0 on a scheme names the schemes that supply its input in auth:refs.'
