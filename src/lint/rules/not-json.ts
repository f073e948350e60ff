import type { Rule } from '../rule.ts'

/** A document is JSON in UTF-8. */
export const notJson: Rule = {
  meta: {
    id: 'not-json',
    section: 'run',
    severity: { recommended: 'error', strict: 'error', schema: 'error' },
    messages: { encoding: 'not UTF-8', syntax: 'not JSON (at byte {offset})', end: 'not JSON: the text ends too early (at byte {offset})' },
  },
}

/** Why the rule exists, for its page. */
export const docs = 'The text is not quoted, for what comes instead of a document may hold secrets: a login page, an error of a proxy.'
