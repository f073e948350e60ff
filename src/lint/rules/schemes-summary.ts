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
    // The example of 1.0.0 lists names, and its schema allows that.
    const isName = version === '1.0.0' && typeof valueAt(object, pointer) === 'string' && pointer !== '/summaries/auth:schemes'
    if (!isName) report(at + pointer, 'shape')
    return true
  },
}

/** Schemes in summaries are for the Items, not for the Collection. */
const schemesInSummaries: RuleCase = {
  meta: {
    code: 'schemes-in-summaries',
    severity: { recommended: 'info', strict: 'info', schema: 'off' },
    messages: { only: 'auth:schemes is in the summaries only: it describes Items, not the Collection itself' },
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
  'summaries-shape': {
    part: 'fields',
    why: 'A summary lists what the Items of a Collection contain, so each element is a map of schemes like auth:schemes itself. Clients cannot read names or single schemes there.',
    repair: [
      'Write an array with one map per different auth:schemes of the Items.',
      'Or remove the summary: clients read the schemes of each Item.',
    ],
  },
  'schemes-in-summaries': {
    part: 'fields',
    why: 'Schemes in summaries describe the Items only. Assets and links of the Collection cannot refer to them.',
    repair: [
      'If the Collection has protected assets or links, copy the schemes to auth:schemes at its root.',
      'If only its Items are protected, nothing needs to change.',
    ],
  },
}
