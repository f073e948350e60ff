import { valueAt } from '../pointer.ts'
import { type Report, rule } from '../rule.ts'

export const refsList = rule('refs-list', 'references', {
  'refs-shape': {
    levels: ['error', 'error', 'error'],
    messages: {
      shape: 'auth:refs must be an array of names of schemes, such as ["login"]',
      element: 'each element of auth:refs must be a string, the name of a scheme',
    },
    fix: 'safe',
    claim({ place, keyword, pointer, name }, { at, object }, report) {
      if (place !== 'refs' || keyword !== 'type') return false
      const lone = name === 'auth:refs' && typeof valueAt(object, pointer) === 'string'
      report(at + pointer, name === 'auth:refs' ? 'shape' : 'element', { fix: lone && 'safe' })
      return true
    },
  },
  'refs-empty': {
    levels: ['info', 'info', 'off'],
    messages: { empty: 'auth:refs is empty: no authentication is needed' },
    target(target, report) {
      if (target.refs?.length === 0) report(`${target.pointer}/auth:refs`, 'empty')
    },
  },
  'duplicate-ref': {
    levels: ['warn', 'warn', 'off'],
    messages: { twice: 'auth:refs lists "{ref}" twice: remove one' },
    fix: 'safe',
    target(target, report) {
      const { refs } = target
      if (refs && refs.length > 1) reportRepeated(refs, () => `${target.pointer}/auth:refs`, report)
    },
    scheme({ refs, pointer }, report) {
      if (refs.length > 1) reportRepeated(refs, () => `${pointer}/auth:refs`, report)
    },
  },
})

/** `at` returns the pointer of the list. */
function reportRepeated(refs: readonly unknown[], at: () => string, report: Report): void {
  // Nearly all lists are short and have none.
  if (refs.length < 8 && refs.every((ref, index) => refs.indexOf(ref) === index)) return
  const seen = new Set<unknown>()
  for (const [index, ref] of refs.entries()) {
    if (typeof ref === 'string' && seen.has(ref)) report(`${at()}/${index}`, 'twice', { ref })
    seen.add(ref)
  }
}
