import { isObject } from '../../stac/document.ts'
import { nearMiss } from '../../text/suggest.ts'
import { namesFor } from '../model.ts'
import { rule } from '../rule.ts'

/** Each name in `auth:refs` is a key of `auth:schemes` in scope. */
export const danglingRef = rule('dangling-ref', 'references', {
  'dangling-ref': {
    levels: ['error', 'error', 'off'],
    messages: { undefined: 'auth:refs names "{ref}", which auth:schemes does not define: define it, or correct the name' },
    fix: 'suggestion',
    target(target, report) {
      const { refs, document } = target
      // It is unknown what a malformed map defines.
      if (!refs || (document.map && !isObject(document.map.value))) return
      for (let index = 0; index < refs.length; index++) {
        const ref = refs[index]
        if (typeof ref !== 'string' || target.definition(ref)) continue
        report(`${target.pointer}/auth:refs/${index}`, 'undefined', { ref, near: nearMiss(ref, namesFor(target)) })
      }
    },
  },
})
