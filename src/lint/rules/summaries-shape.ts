import type { Rule } from '../rule.ts'

/** A summary of schemes is a list of maps or a JSON Schema. */
export const summariesShape: Rule = {
  meta: {
    id: 'summaries-shape',
    section: 'placement',
    severity: { recommended: 'error', strict: 'error', schema: 'error' },
    messages: { shape: 'a summary of auth:schemes is a list of maps or a JSON Schema' },
  },
  claim({ pointer, keyword }, { at }, report) {
    if (keyword !== 'type' || !/^\/summaries\/auth:schemes(?:\/\d+)?$/.test(pointer)) return false
    report(at + pointer, 'shape')
    return true
  },
}

/** Why the rule exists, for its page. */
export const docs = 'Summaries describe what the Items of a Collection carry. Each element of the list is a map like auth:schemes itself.'
