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
          syntax: 'not JSON (at byte {offset}): names need double quotes, commas only between members, no comments',
          markup: 'not JSON (at byte {offset}): this looks like a web page, perhaps a login page',
          start: 'not JSON (at byte {offset}): a document starts with a brace; YAML and other formats are not read',
          end: 'not JSON: the text ends too early (at byte {offset})',
          lines: 'not JSON (at byte {offset}): this looks like NDJSON: each line is a document of its own',
        },
      },
    },
  ],
}

export const docs: RuleDocs = {
  'not-json': {
    part: 'fields',
    why: 'No client can read the document. The text is not quoted in the report, because a login page or an error of a proxy may contain secrets.',
    repair: [
      'Open the file at the line and column of the finding.',
      'If it is a web page, download the document again with a valid login.',
      'Save the file as UTF-8, without comments and trailing commas.',
    ],
  },
}
