import fc from 'fast-check'

/** What parsers treat in a way of its own, and much that they leave as it is. */
export const addressPiece = fc.constantFrom(
  'a',
  'B',
  '.',
  '..',
  '/',
  '//',
  '%2e',
  '%2E',
  '%41',
  '%',
  '?',
  '#',
  '@',
  ':',
  '\\',
  "'",
  ' ',
  '\t',
  '|',
  'é',
  '"',
  '=1',
  '&',
  '8080',
)
