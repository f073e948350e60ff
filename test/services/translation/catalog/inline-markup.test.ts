import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { taggedProse } from '../../../../src/services/translation/catalog/markdown-parts.ts'
import { caseCount } from '../../../harness/case-count.ts'
import { xmlProblem } from '../../../servers/translation/xml-problem.ts'

const tagged = (prose: string) => taggedProse(prose).text

describe('prose for the service', () => {
  it('stays as it is without markup', () => {
    for (const prose of ['Bands & scenes', 'a < b', '2 * 3 * 4', 'snake_case_name', 'a [note] here', '5_000'])
      expect(taggedProse(prose)).toMatchObject({ text: prose, tagged: false })
  })

  const cases: readonly (readonly [prose: string, text: string])[] = [
    ['use `B04` now', 'use <x i="1">`B04`</x> now'],
    ['``a`b`` c', '<x i="0">``a`b``</x> c'],
    ['`a``b` c', '<x i="0">`a``b`</x> c'],
    ['``a ` b ``` c`` d', '<x i="0">``a ` b ``` c``</x> d'],
    ['<code>rm <b>x</b></code> does', '<x i="0">&lt;code&gt;rm &lt;b&gt;x&lt;/b&gt;&lt;/code&gt;</x> does'],
    ['see [the guide](https://e.example/a_(b) "Guide")', 'see <g i="1">the guide</g>'],
    ['![alt](a.png)', '<g i="0">alt</g>'],
    ['[one][ref] and [two]', '<g i="0">one</g> and [two]'],
    ['**very _red_** light', '<g i="0">very <g i="2">red</g></g> light'],
    ['at https://e.example/x?a=1&b=2.', 'at <x i="1">https://e.example/x?a=1&amp;b=2</x>.'],
    [
      'a<br/>b <!-- c --> <https://e.example/>',
      'a<x i="1">&lt;br/&gt;</x>b <x i="3">&lt;!-- c --&gt;</x> <x i="5">&lt;https://e.example/&gt;</x>',
    ],
    ['5 \\* 3 &deg; a & b', '5 <x i="1">\\*</x> 3 <x i="3">&amp;deg;</x> a &amp; b'],
  ]
  it.each(cases)('%s', (prose, text) => {
    const { tagged: markup, text: sent, restore } = taggedProse(prose)
    expect({ tagged: markup, text: sent }).toEqual({ tagged: true, text })
    expect(restore(sent)).toBe(prose)
  })

  it('prose for the service is well-formed XML and comes back as it was, whatever it is', () => {
    const piece = fc.constantFrom(
      'a',
      ' ',
      '*',
      '**',
      '_',
      '`',
      '``',
      '[',
      '![',
      '](u)',
      '][r]',
      '<b>',
      '&',
      '<',
      '\\*',
      '~~',
      'https://e.example',
      '&amp;',
    )
    fc.assert(
      fc.property(
        fc.array(piece).map((pieces) => pieces.join('')),
        (prose) => {
          const { text, tagged: isTagged, restore } = taggedProse(prose)
          if (isTagged) expect(xmlProblem(text)).toBeUndefined()
          expect(restore(text)).toBe(prose)
        },
      ),
      { numRuns: caseCount(1000, 200) },
    )
  })
})

describe('a hostile text', () => {
  it.each([
    '<code>',
    '<code>a</',
    '`a``',
    '`a ',
    '``a`',
    '<!--',
    '<a ',
    '](',
    '[a](',
    '](a(',
    ' *a',
    '*a* **b',
    '[',
    '&#',
    '_a',
    'https://',
    '\\',
  ])('a hostile text of %j takes time linear in its length', (part) => {
    const prose = part.repeat(20_000)
    const { text, restore } = taggedProse(prose)
    expect(restore(text)).toBe(prose)
  })
})

describe('a translation', () => {
  const { restore } = taggedProse('The **red** band `B04`, see [guide](https://e.example/)')
  const sent = tagged('The **red** band `B04`, see [guide](https://e.example/)')

  it('a translation may move the markup with its words', () => {
    expect(sent).toBe('The <g i="1">red</g> band <x i="5">`B04`</x>, see <g i="7">guide</g>')
    expect(restore('Siehe <g i="7">Anleitung</g>: <x i="5">`B04`</x> ist der <g i="1">rote</g> Kanal')).toBe(
      'Siehe [Anleitung](https://e.example/): `B04` ist der **rote** Kanal',
    )
  })

  it('a translation cannot change what is kept', () => {
    expect(restore('<g i="1">rot</g> <x i="5">`B05`; rm -rf</x> <g i="7">x</g>')).toBe('**rot** `B04` [x](https://e.example/)')
  })

  it('a translation is in plain characters again, on one line, with marks at the words', () => {
    expect(restore('<g i=\'1\'> rot </g>&amp;&#39;&#x26;\n<x i="5"></x><g i="7">x</g >')).toBe(" **rot** &'& `B04`[x](https://e.example/)")
  })

  const damaged: readonly (readonly [what: string, translation: string])[] = [
    ['lost a tag', '<g i="1">rot</g> <g i="7">x</g>'],
    ['doubled a tag', '<g i="1">rot</g><g i="1">rot</g> <x i="5"/> <x i="5">`B04`</x> <g i="7">x</g>'],
    ['crossed tags', '<g i="1">rot <x i="5">`B04`</g></x> <g i="7">x</g>'],
    ['left a tag open', '<g i="1">rot <x i="5">`B04`</x> <g i="7">x</g>'],
    ['made a tag up', '<g i="1">rot</g> <g i="2">a</g> <x i="5">`B04`</x> <g i="7">x</g>'],
    ['swallowed one in another', '<x i="5"><g i="1">rot</g></x> <g i="7">x</g>'],
    ['put a tag into itself', '<g i="1"><g i="1">rot</g></g> <x i="5">`B04`</x> <g i="7">x</g>'],
    ['wrote HTML', '<g i="1">rot</g> <x i="5">`B04`</x> <g i="7">x</g> &lt;script&gt;'],
    ['wrote a tag that is not closed', '<g i="1">rot</g> <x i="5">`B04`</x> <g i="7">x</g> &lt;script'],
    ['closed what was not open', '</x><g i="1">rot</g> <x i="5">`B04`</x> <g i="7">x</g>'],
  ]
  it.each(damaged)('a translation that %s is no translation', (_what, translation) => {
    expect(restore(translation)).toBeUndefined()
  })
})

it('a tag in itself is seen at once, however deep', () => {
  const { restore } = taggedProse('**red**')
  expect(restore(`${'<g i="0">'.repeat(300_000)}${' '.repeat(100_000)}${'</g>'.repeat(300_000)}`)).toBeUndefined()
})
