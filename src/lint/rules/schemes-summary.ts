import { valueAt } from '../pointer.ts'
import type { Rule, RuleCase, RuleDocs } from '../rule.ts'

/** A summary of schemes is a list of maps or a JSON Schema. */
const summariesShape: RuleCase = {
  meta: {
    code: 'summaries-shape',
    severity: { recommended: 'error', strict: 'error', schema: 'error' },
    messages: { shape: 'a summary of auth:schemes must be an array of maps of schemes, or a JSON Schema' },
  },
  claim({ pointer, keyword }, { at, object, version }, report) {
    if (keyword !== 'type' || !/^\/summaries\/auth:schemes(?:\/\d+)?$/.test(pointer)) return false
    // The example of 1.0.0 lists names, and its schema says nothing else.
    const isName = version === '1.0.0' && typeof valueAt(object, pointer) === 'string' && pointer !== '/summaries/auth:schemes'
    if (!isName) report(at + pointer, 'shape')
    return true
  },
}

/** Schemes in summaries serve the Items, not the Collection. */
const schemesInSummaries: RuleCase = {
  meta: {
    code: 'schemes-in-summaries',
    severity: { recommended: 'info', strict: 'info', schema: 'off' },
    messages: { only: 'auth:schemes stands in the summaries only: it describes Items, and the Collection itself has no schemes' },
  },
  document({ maps, map, at }, report) {
    if (map === undefined && maps.length > 0) report(`${at}/summaries/auth:schemes`, 'only')
  },
}

export const schemesSummary: Rule = {
  meta: { id: 'schemes-summary', section: 'placement' },
  cases: [summariesShape, schemesInSummaries],
}

export const docs: RuleDocs = {
  'summaries-shape': 'Summaries describe what the Items of a Collection carry. Each element of the list is a map like auth:schemes itself.',
  'schemes-in-summaries':
    'It is legal, and right when only the Items are protected. Links and assets of the Collection cannot refer to these schemes.',
}
