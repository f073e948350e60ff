import { describe, expect, it } from 'vitest'
import { hrefProblem, urlOfHref } from '../../src/http/url.ts'
import { caseCount } from '../harness/case-count.ts'
import { randomFrom } from '../lint/damaged.ts'

const PARTS = [
  ...[
    'https:',
    'http:',
    'HTTPS:',
    's3:',
    'gs:',
    'ftp:',
    'file:',
    'x-y+z:',
    '//',
    '/',
    '\\',
    '@',
    ':',
    '?',
    '#',
    '.',
    '..',
    '*',
    '[',
    ']',
    '%',
    '%2e',
    '%41',
  ],
  ...[
    'data',
    'Example',
    'xn--a',
    'xn--',
    'xN--mgba',
    'a-b',
    '-',
    '_',
    '0x7f',
    '127',
    '1',
    '256',
    'com',
    '8080',
    '99999',
    '443',
    ' ',
    '\t',
    '\n',
    '\0',
    '\u007f',
  ],
  ...[
    'é',
    '\u00ad',
    '\u200b',
    '\u212a',
    '\u017f',
    '\u3002',
    '\uff0e',
    '\ud800',
    '\u{1f600}',
    '"',
    "'",
    '<',
    '|',
    '^',
    '{',
    '~',
    '!',
    '$',
    '&',
    '(',
    ',',
    ';',
    '=',
  ],
]

describe('hrefProblem', () => {
  it('finds a problem exactly where the parser refuses the text', () => {
    const random = randomFrom(20261123)
    const rounds = caseCount(300_000, 10_000)
    const counts = { refused: 0, taken: 0 }
    const differences: string[] = []
    for (let round = 0; round < rounds; round++) {
      let text = ['', '', 'https://', 's3://', 'https://data.example', 'http://a.'][random(6)] ?? ''
      for (let count = random(6); count >= 0; count--) text += PARTS[random(PARTS.length)]
      const url = urlOfHref(text, { base: 'https://document.invalid/', objects: true })
      const expected = url instanceof URL ? undefined : url.message
      counts[expected === undefined ? 'taken' : 'refused']++
      if (hrefProblem(text)?.message !== expected) differences.push(text)
    }
    expect(differences).toEqual([])
    expect(Math.min(counts.refused, counts.taken)).toBeGreaterThan(rounds / 6)
  })

  it('takes hosts that look like numbers, Punycode and long texts to the parser', () => {
    for (const href of ['https://1.2.3.4.5/a', 'https://a.0x/', `https://a.example/${'a'.repeat(8192)}`])
      expect(hrefProblem(href)?.code, href.slice(0, 30)).toBe('URL_INVALID')
    // Versions of Node disagree about Punycode that encodes nothing: the parser at hand decides.
    for (const href of ['https://xn--a/', 'https://a.xn--a.example/'])
      expect(hrefProblem(href)?.code, href).toBe(URL.canParse(href) ? undefined : 'URL_INVALID')
    for (const href of ['https://127.0.0.1/a', 'https://xn--bcher-kva.example/a', 'gs://bucket/a', 'https://data.example:65535/a'])
      expect(hrefProblem(href), href).toBeUndefined()
  })
})
