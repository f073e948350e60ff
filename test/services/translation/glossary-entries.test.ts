import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isAuthError } from '../../../src/errors.ts'
import { type EntriesInput, GlossaryEntries } from '../../../src/services/translation/glossaries.ts'
import { readEntries } from '../../servers/translation/glossary-entries.ts'

const LARGEST = 10_485_760
const pair = { source_lang: 'en', target_lang: 'de' }
const refusal = (act: () => unknown) => {
  try {
    act()
  } catch (error) {
    if (isAuthError(error)) return error
    throw error
  }
  throw new Error('expected a refusal')
}

describe('entries of a glossary', () => {
  it('entries of a glossary keep their order and any word', () => {
    const words = ['zebra', 'constructor', '__proto__', 'toString', '10', '1', 'ä 😀'].map((word) => [word, `${word}!`] as const)
    const entries = GlossaryEntries.of(words)
    expect([...entries]).toEqual(words)
    expect([...GlossaryEntries.parse(entries.toText())]).toEqual(words)
    expect([entries.size, entries.get('__proto__'), entries.get('valueOf'), entries.has('1')]).toEqual([7, '__proto__!', undefined, true])
  })

  it('glossary entries are refused with our message when a quote is never closed or far too long', () => {
    const long = `"${'a'.repeat(5_000_000)}`
    expect(refusal(() => GlossaryEntries.parse(`x,y\n${long}`, 'csv'))).toMatchObject({ code: 'REQUEST_INVALID', field: 'entries' })
    expect(refusal(() => GlossaryEntries.parse(`${long}",b`, 'csv'))).toMatchObject({ code: 'REQUEST_TOO_LARGE' })
    for (const wrong of ['a\tb', null, 5]) expect(() => GlossaryEntries.of(wrong as never)).toThrow(TypeError)
  })

  it('entries of a glossary come from lists, maps, objects and themselves', () => {
    const map = new Map([['a', 'b']])
    const all: EntriesInput[] = [map, [['a', 'b']], { a: 'b' }, GlossaryEntries.of(map)]
    expect(all.map((input) => GlossaryEntries.of(input).toText())).toEqual(Array(4).fill('a\tb'))
    map.set('c', 'd')
    expect(GlossaryEntries.of(map).size).toBe(2)
  })

  it.each<[string, string, RegExp]>([
    ['empty', '', /is empty/],
    ['a tab', 'a\tb', /control character/],
    ['a line end', 'a\nb', /control character/],
    ['NUL', 'a\0b', /control character/],
    ['a C1 control', 'a\u0085b', /control character/],
    ['a line separator', 'a\u2028b', /line break/],
    ['a blank before', ' a', /begins or ends/],
    ['a no-break space behind', 'a\u00a0', /begins or ends/],
    ['an ideographic space', '\u3000a', /begins or ends/],
    ['half a pair', 'a\ud83d', /surrogate/],
    ['1025 bytes', 'a'.repeat(1025), /more than 1024 bytes/],
    ['1026 bytes in 342 characters', '漢'.repeat(342), /more than 1024 bytes/],
  ])('entries of a glossary refuse a term with %s, on both sides', (_, term, message) => {
    const source = refusal(() =>
      GlossaryEntries.of([
        ['fine', 'gut'],
        [term, 'b'],
      ]),
    )
    const target = refusal(() => GlossaryEntries.of([['a', term]]))
    expect(source.message).toMatch(message)
    expect(source.message).toMatch(/^entry 2: the source term/)
    expect(target.message).toMatch(/^entry 1: the target term/)
  })

  it('entries of a glossary take 1024 bytes exactly', () => {
    const long = `${'漢'.repeat(341)}a`
    expect(Buffer.byteLength(long)).toBe(1024)
    expect(GlossaryEntries.of([[long, 'a'.repeat(1024)]]).size).toBe(1)
    expect(refusal(() => GlossaryEntries.of([[`${long}a`, 'a']]))).toMatchObject({
      code: 'REQUEST_TOO_LARGE',
      limit: 1024,
      field: 'entries',
    })
  })

  it('entries of a glossary refuse a source that comes twice, and never quote a term', () => {
    const error = refusal(() => GlossaryEntries.parse('Geheim\ta\nb\tc\nGeheim\tc\n'))
    expect(error).toMatchObject({ code: 'REQUEST_INVALID', message: 'line 3: the source term is a duplicate' })
  })

  it('entries of a glossary refuse what is not a text', () => {
    expect(() => GlossaryEntries.of([['a', 1 as unknown as string]])).toThrow(TypeError)
    expect(() => GlossaryEntries.parse(1 as unknown as string)).toThrow(TypeError)
  })

  it('entries of a glossary have 10 485 760 bytes and not one more, read or written', () => {
    const line = `${'a'.repeat(506)}\t`
    const full = Array.from({ length: LARGEST / 1024 }, (_, n) => `${line}${String(n).padStart(516, 'b')}`)
    const sources = full.map((term, n) => String(n).padStart(506, 's') + term.slice(506))
    const text = `${sources.join('\n')}\n`
    expect(Buffer.byteLength(text)).toBe(LARGEST)
    const entries = GlossaryEntries.parse(text)
    expect(Buffer.byteLength(entries.toText())).toBe(LARGEST - 1)
    expect(refusal(() => GlossaryEntries.parse(`${text}\n`))).toMatchObject({ code: 'REQUEST_TOO_LARGE', limit: LARGEST })
    const [[source, target] = ['', '']] = entries
    const fuller = GlossaryEntries.of([...[...entries].slice(1), [source, `${target}x`]])
    expect(Buffer.byteLength(fuller.toText())).toBe(LARGEST)
    const over = GlossaryEntries.of([...[...entries].slice(1), [source, `${target}xy`]])
    expect(refusal(() => over.toText())).toMatchObject({ code: 'REQUEST_TOO_LARGE' })
    expect(refusal(() => over.toText('csv'))).toMatchObject({ code: 'REQUEST_TOO_LARGE' })
  })
})

describe('tab-separated entries', () => {
  it.each(['a\tb\nc\td', 'a\tb\nc\td\n', 'a\tb\r\nc\td\r\n', '\ufeffa\tb\nc\td'])('tab-separated entries are read from %j', (text) => {
    expect([...GlossaryEntries.parse(text)]).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ])
  })

  it.each<[string, RegExp]>([
    ['a', /^line 1 does not have exactly one tab/],
    ['a\tb\nc\td\te', /^line 2 does not have exactly one tab/],
    ['a\tb\n\nc\td', /^line 2 does not have exactly one tab/],
    ['a\tb\rc', /control character/],
    ['\tb', /^line 1: the source term is empty/],
  ])('tab-separated entries are not read from %j', (text, message) => {
    expect(refusal(() => GlossaryEntries.parse(text)).message).toMatch(message)
  })

  it('tab-separated entries may be none', () => {
    expect([GlossaryEntries.parse('').size, GlossaryEntries.of([]).toText()]).toEqual([0, ''])
  })
})

describe('comma-separated entries', () => {
  it.each<[string, [string, string][]]>([
    [
      'a,b\r\nc,d\r\n',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    ['"a, b","say ""c"""', [['a, b', 'say "c"']]],
    [
      'a,b,EN,de\nc,d,en,fr\ne,f',
      [
        ['a', 'b'],
        ['e', 'f'],
      ],
    ],
    ['a,b,en,de\na,x,en,fr', [['a', 'b']]],
  ])('comma-separated entries are read from %j', (text, entries) => {
    expect([...GlossaryEntries.parse(text, 'csv', pair)]).toEqual(entries)
  })

  it.each<[string, RegExp]>([
    ['a', /^row 1 has neither/],
    ['a,b,en', /^row 1 has neither/],
    ['a,b,en,de,x', /^row 1 has neither/],
    ['a,b\n"c,d', /^row 2 is not valid CSV/],
    ['a"b,c', /^row 1 is not valid CSV/],
    ['"a"b,c', /^row 1 is not valid CSV/],
    ['"a\nb",c', /control character/],
    ['a,', /the target term is empty/],
  ])('comma-separated entries are not read from %j', (text, message) => {
    expect(refusal(() => GlossaryEntries.parse(text, 'csv', pair)).message).toMatch(message)
  })

  it('comma-separated entries name languages only for those who say which', () => {
    expect(refusal(() => GlossaryEntries.parse('a,b,en,de', 'csv')).message).toMatch(/pass the pair of languages/)
  })
})

describe('any entries', () => {
  const term = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter((text) => isTerm(text))
  const entries = fc.uniqueArray(fc.tuple(term, term), { selector: ([source]) => source, minLength: 1 })

  it.each(['tsv', 'csv'] as const)('any entries are the same after %s, for us and for a service', (format) => {
    fc.assert(
      fc.property(entries, (list) => {
        const text = GlossaryEntries.of(list).toText(format)
        expect([...GlossaryEntries.parse(text, format)]).toEqual(list)
        expect([...readEntries(text, format, 'en', 'de')]).toEqual(list)
      }),
    )
  })
})

function isTerm(text: string): boolean {
  return text.trim() === text && text.isWellFormed() && !/[\0-\x1f\x7f-\x9f\u2028\u2029]/.test(text)
}
