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

/** An empty list means that no authentication is needed. */
const refsEmpty: RuleCase = {
  meta: {
    code: 'refs-empty',
    severity: { recommended: 'info', strict: 'info', schema: 'off' },
    messages: { empty: 'auth:refs is empty: no authentication is needed' },
  },
  target(target, report) {
    if (target.refs?.length === 0) report(`${target.pointer}/auth:refs`, 'empty')
  },
}

/** A list contains each name once. */
const duplicateRef: RuleCase = {
  meta: {
    code: 'duplicate-ref',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: { twice: 'auth:refs lists "{ref}" twice: remove one' },
    fix: 'safe',
  },
  target(target, report) {
    const { refs } = target
    if (refs && refs.length > 1) reportRepeated(refs, () => `${target.pointer}/auth:refs`, report)
  },
  scheme({ value, pointer }, report) {
    const refs = own(value, 'auth:refs')
    if (Array.isArray(refs)) reportRepeated(refs, () => `${pointer}/auth:refs`, report)
  },
}

/** `at` returns the pointer of the list. */
function reportRepeated(refs: readonly unknown[], at: () => string, report: Report): void {
  const seen = new Set<unknown>()
  for (const [index, ref] of refs.entries()) {
    if (typeof ref === 'string' && seen.has(ref)) report(`${at()}/${index}`, 'twice', { ref })
    seen.add(ref)
  }
}

export const refsList: Rule = {
  meta: { id: 'refs-list', section: 'references' },
  cases: [refsShape, refsEmpty, duplicateRef],
}

export const docs: RuleDocs = {
  'refs-shape': {
    part: 'fields',
    why: 'Clients read a list of names. Some fail on a text or an object, and others read the letters of the text as names.',
    repair: [
      'Write an array of strings, also for a single name: "auth:refs": ["key"].',
      'Remove elements that are not strings, such as whole schemes; define those in auth:schemes.',
    ],
  },
  'refs-empty': {
    part: 'fields',
    why: 'An empty list means that no authentication is needed. It is useful on an alternate of a protected asset and says nothing elsewhere.',
    repair: ['Keep it on an alternate asset whose asset has references.', 'Elsewhere, remove it, or add the names that were meant.'],
  },
  'duplicate-ref': {
    part: 'fields',
    why: 'References are alternatives, so a name that is listed twice adds nothing. It shows that a proxy adds references each time a document passes it.',
    repair: ['Remove the later name.', 'Let the proxy check whether the name is there before it adds it.'],
  },
}
