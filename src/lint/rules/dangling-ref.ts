import { isObject } from '../../stac/document.ts'
import { nearMiss } from '../../text/suggest.ts'
import { namesFor } from '../model.ts'
import type { Rule, RuleDocs } from '../rule.ts'

/** Each name in `auth:refs` is a key of `auth:schemes` in scope. */
export const danglingRef: Rule = {
  meta: { id: 'dangling-ref', section: 'references' },
  cases: [
    {
      meta: {
        code: 'dangling-ref',
        severity: { recommended: 'error', strict: 'error', schema: 'off' },
        messages: { undefined: 'auth:refs names "{ref}", which auth:schemes does not define: define it, or correct the name' },
        fix: 'suggestion',
      },
      refList({ names, definitions, targets: [target] }, report) {
        const map = target?.document.map
        // Of a map that cannot be read nobody knows what it defines.
        if (!target || (map && !isObject(map.value))) return
        for (const [index, ref] of names.entries()) {
          if (typeof ref !== 'string' || definitions[index]) continue
          report(`/${index}`, 'undefined', { ref, near: nearMiss(ref, namesFor(target)) })
        }
      },
    },
  ],
}

export const docs: RuleDocs = {
  'dangling-ref':
    'A client that follows the reference finds nothing, and cannot tell which credentials are asked for. No JSON Schema can see it.',
}
