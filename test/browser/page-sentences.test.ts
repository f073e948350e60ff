/** Texts of the example page. */
import { expect, it } from 'vitest'
import { sentenceOf } from '../../examples/browser/src/views/access-line.ts'

it.each([
  ['the server refused it', 'The server refused it.'],
  ['https://data.example failed 5 times in a row', 'https://data.example failed 5 times in a row.'],
])('an error is shown as a sentence, and a URL at its beginning as it is: %s', (message, shown) => {
  expect(sentenceOf(message)).toBe(shown)
})
