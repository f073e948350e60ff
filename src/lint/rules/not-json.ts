import type { Rule, RuleDocs } from '../rule.ts'

/** A document is JSON in UTF-8. */
export const notJson: Rule = {
  meta: { id: 'not-json', section: 'run' },
  cases: [
    {
      meta: {
        code: 'not-json',
        severity: { recommended: 'error', strict: 'error', schema: 'error' },
        messages: {
          encoding: 'the text is not encoded in UTF-8: save it as UTF-8',
          syntax: 'not JSON (at byte {offset}): names need double quotes, commas stand only between members, comments are not allowed',
          end: 'not JSON: the text ends too early (at byte {offset})',
          lines: 'not JSON (at byte {offset}): this looks like NDJSON: each line is a document of its own',
        },
      },
    },
  ],
}

export const docs: RuleDocs = {
  'not-json': 'The text is not quoted, for what comes instead of a document may hold secrets: a login page, an error of a proxy.',
}
