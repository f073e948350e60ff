import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { markdownParts } from '../../../../src/services/translation/catalog/markdown-parts.ts'
import { caseCount } from '../../../harness/case-count.ts'

const prose = (markdown: string) => markdownParts(markdown).flatMap((part) => ('prose' in part ? [part.prose] : []))
const joined = (markdown: string, change = (text: string) => text) =>
  markdownParts(markdown)
    .map((part) => ('prose' in part ? change(part.prose) : part.kept))
    .join('')

describe('parts of CommonMark', () => {
  const cases: readonly (readonly [what: string, markdown: string, prose: readonly string[]])[] = [
    ['a text without markup', 'Bands of one scene.', ['Bands of one scene.']],
    ['the lines of a paragraph as one', 'Bands of\none scene.\n\nNext.', ['Bands of one scene.', 'Next.']],
    ['headings', '# Title\nText\n## Part', ['Title', 'Text', 'Part']],
    ['underlined headings', 'Title\n=====\nText\n---\n', ['Title', 'Text']],
    ['lists, also nested ones', '- one\n  more\n- two\n    - inner\n1. first\n2) second', ['one more', 'two', 'inner', 'first', 'second']],
    ['what belongs to a list item', '- one\n\n    a paragraph of it', ['one', 'a paragraph of it']],
    ['quotes', '> said\n> more\n>\n> - listed\nlazy', ['said more', 'listed', 'lazy']],
    ['hard line breaks', 'one  \ntwo\\\nthree', ['one', 'two', 'three']],
    ['tables', '| Band | Use |\n|:-----|----:|\n| B04 | red \\| near |', ['Band', 'Use', 'B04', 'red \\| near']],
    [
      'tables without outer bars, with code',
      'Band | `a`\n---|---\nB04 | `red` band\nB05 | near\nlone\n\nText',
      ['Band', '`a`', 'B04', '`red` band', 'B05', 'near', 'lone', 'Text'],
    ],
    ['cells behind a backslash that is one', 'a\\\\|b\n-|-', ['a\\\\', 'b']],
    ['what follows a table', 'a | `b`\n--|--\n`c` | d\n- item\n  more', ['a', '`b`', '`c`', 'd', 'item more']],
    ['no bar of code where there is no table', 'Use `a | b` now\nor never', ['Use `a | b` now or never']],
    [
      'no comments, scripts, styles and preformatted text',
      'One\n<!-- a\n\nb -->\n<PRE>\n\nc\n</PRE>\n- <script>d\n  e</script>\n<style>f</style>\nTwo',
      ['One', 'Two'],
    ],
    ['words behind a tag that only looks alike', '<prefix> a\n\nb', ['<prefix> a', 'b']],
    ['no fenced code', 'Run\n```sh\ncurl it\n\n# no heading\n```\nthen', ['Run', 'then']],
    ['no fence that is never closed', '~~~\ncode\n```\nmore', []],
    ['no fence in a list', '- do\n  ```\n  code\n  ```\n- done', ['do', 'done']],
    ['no indented code', 'Text\n\n    code()\n\tcode()\n\nText', ['Text', 'Text']],
    ['no rules and no references', 'a\n\n***\n\n[id]: https://e.example/ "x"\n', ['a']],
  ]
  it.each(cases)('finds %s', (_what, markdown, expected) => {
    expect(prose(markdown)).toEqual(expected)
  })

  it('keeps everything else in its place', () => {
    expect(joined('# Title\r\n\r\n> - one  \r\n> - two\r\n\r\n| a | b |\r\n|---|---|\r\n', (text) => text.toUpperCase())).toBe(
      '# TITLE\r\n\r\n> - ONE  \r\n> - TWO\r\n\r\n| A | B |\r\n|---|---|\r\n',
    )
  })

  it('loses nothing but line ends inside of paragraphs, whatever the text is', () => {
    const piece = fc.constantFrom('a', 'b c', ' ', '\n', '\r\n', '#', '- ', '> ', '```', '|', '    ', '1. ', '\\', '---', '`', '[x]: y')
    fc.assert(
      fc.property(
        fc.array(piece).map((pieces) => pieces.join('')),
        (markdown) => {
          const words = (text: string) => text.replace(/[\s>]+/g, '')
          expect(words(joined(markdown))).toBe(words(markdown))
        },
      ),
      { numRuns: caseCount(500, 100) },
    )
  })

  it('takes time that grows with the text', () => {
    for (const hostile of [
      '- '.repeat(50_000),
      `${' '.repeat(100_000)}x`,
      '|-'.repeat(50_000),
      `[${'a'.repeat(100_000)}`,
      '`'.repeat(100_000),
      `a|b\n${' '.repeat(100_000)}|x`,
      `a|b\n|-${' '.repeat(100_000)}x`,
      `${'\\'.repeat(100_000)}|`,
    ])
      expect(joined(hostile)).toHaveLength(hostile.length)
  })
})

it('takes a row of more cells than a call has room for arguments', () => {
  expect(joined(`|${'a|'.repeat(200_000)}`)).toHaveLength(400_001)
})
