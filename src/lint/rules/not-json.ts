import { rule } from '../rule.ts'

/** A document is JSON in UTF-8. */
export const notJson = rule('not-json', 'run', {
  'not-json': {
    levels: ['error', 'error', 'error'],
    messages: {
      encoding: 'the text is not encoded in UTF-8: save it as UTF-8',
      syntax: 'not JSON (at byte {offset}): names need double quotes, commas only between members, no comments',
      number: 'not JSON (at byte {offset}): JSON has no NaN and no Infinity: write null, or a number',
      markup: 'not JSON (at byte {offset}): this looks like a web page, perhaps a login page',
      start: 'not JSON (at byte {offset}): a document starts with a brace; YAML and other formats are not read',
      end: 'not JSON: the text ends too early (at byte {offset})',
      lines: 'not JSON (at byte {offset}): this looks like NDJSON: each line is a document of its own',
    },
  },
})
