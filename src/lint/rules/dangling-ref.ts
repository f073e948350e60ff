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
      target(target, report) {
        const { refs, definitions, document } = target
        // It is unknown what a malformed map defines.
        if (!refs || (document.map && !isObject(document.map.value))) return
        for (let index = 0; index < refs.length; index++) {
          const ref = refs[index]
          if (typeof ref !== 'string' || definitions[index]) continue
          report(`${target.pointer}/auth:refs/${index}`, 'undefined', { ref, near: nearMiss(ref, namesFor(target)) })
        }
      },
    },
  ],
}

export const docs: RuleDocs = {
  'dangling-ref': {
    part: 'fields',
    why: 'A client finds no scheme for the reference, so it cannot select a credential: the download fails, although the user may have the right one. A JSON Schema cannot detect this.',
    repair: [
      'Look for a scheme with a similar name in auth:schemes; if there is one, correct the reference.',
      'Otherwise add the scheme to auth:schemes of this document.',
      'If the asset is public, remove the reference.',
    ],
  },
}
