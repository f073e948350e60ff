import { own } from '../../stac/document.ts'
import { valueAt } from '../pointer.ts'
import type { Report, Rule, RuleCase, RuleDocs } from '../rule.ts'

/** Refs are a list of names. */
const refsShape: RuleCase = {
  meta: {
    code: 'refs-shape',
    severity: { recommended: 'error', strict: 'error', schema: 'error' },
    messages: {
      shape: 'auth:refs must be an array of names of schemes, such as ["login"]',
      element: 'each element of auth:refs must be a string, the name of a scheme',
    },
    fix: 'safe',
  },
  claim({ place, keyword, pointer, name }, { at, object }, report) {
    if (place !== 'refs' || keyword !== 'type') return false
    const lone = name === 'auth:refs' && typeof valueAt(object, pointer) === 'string'
    report(at + pointer, name === 'auth:refs' ? 'shape' : 'element', { fix: lone && 'safe' })
    return true
  },
}

/** An empty list is a statement. */
const refsEmpty: RuleCase = {
  meta: {
    code: 'refs-empty',
    severity: { recommended: 'info', strict: 'info', schema: 'off' },
    messages: { empty: 'auth:refs is empty, which means that no authentication is needed' },
  },
  refList({ names }, report) {
    if (names.length === 0) report('', 'empty')
  },
}

/** A name stands once in a list. */
const duplicateRef: RuleCase = {
  meta: {
    code: 'duplicate-ref',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: { twice: 'auth:refs lists "{ref}" twice: remove one' },
    fix: 'safe',
  },
  refList({ names }, report) {
    if (names.length > 1) reportRepeated(names, '', report)
  },
  scheme({ value, pointer }, report) {
    const refs = own(value, 'auth:refs')
    if (Array.isArray(refs)) reportRepeated(refs, `${pointer}/auth:refs`, report)
  },
}

/** `at` is where the list stands. */
function reportRepeated(refs: readonly unknown[], at: string, report: Report): void {
  const seen = new Set<unknown>()
  for (const [index, ref] of refs.entries()) {
    if (typeof ref === 'string' && seen.has(ref)) report(`${at}/${index}`, 'twice', { ref })
    seen.add(ref)
  }
}

export const refsList: Rule = {
  meta: { id: 'refs-list', section: 'references' },
  cases: [refsShape, refsEmpty, duplicateRef],
}

export const docs: RuleDocs = {
  'refs-shape': 'References look the same on assets and links: an array of strings, also for a single name.',
  'refs-empty': 'An empty list is useful on an alternate of a protected asset. Elsewhere it may be left out.',
  'duplicate-ref': 'References are alternatives, so a repetition adds nothing. Proxies that add refs on every pass leave them behind.',
}
