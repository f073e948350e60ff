import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SelectionError } from '../../src/errors.ts'
import { errorText, forJson, forLine, forTerminal, forUrl, headline, hintLines } from '../../src/text/sanitize.ts'

/** What no output may hold: controls but line feed, spaces but the usual one, and what has no shape. */
const unsafe = /[^\n\P{C}]|[^ \P{Z}]|\p{Default_Ignorable_Code_Point}|\u2800/u

describe('forTerminal', () => {
  it.each([
    ['\u001b[1A\u001b[2Kall good', '\\u{1b}[1A\\u{1b}[2Kall good'],
    ['\u001b]8;;https://evil\u001b\\click\u001b]8;;\u001b\\', '\\u{1b}]8;;https://evil\\u{1b}\\click\\u{1b}]8;;\\u{1b}\\'],
    ['\u009b31m\r\b', '\\u{9b}31m\\u{d}\\u{8}'],
    ['\u202egnp.exe', '\\u{202e}gnp.exe'],
    ['a\u2066b\u2069c\u061cd\u200fe', 'a\\u{2066}b\\u{2069}c\\u{61c}d\\u{200f}e'],
    ['\ufeffx\u007f', '\\u{feff}x\\u{7f}'],
    ['\ud800', '\\u{d800}'],
    ['a\udc00b', 'a\\u{dc00}b'],
    ['tab\tnul\0', 'tab\\u{9}nul\\u{0}'],
    ['a\u200bb\u2060c\u00add', 'a\\u{200b}b\\u{2060}c\\u{ad}d'],
    ['\u3164\u115f\u1160\uffa0', '\\u{3164}\\u{115f}\\u{1160}\\u{ffa0}'],
    ['a\u034f\u180e\ufe0f\u{e0041}', 'a\\u{34f}\\u{180e}\\u{fe0f}\\u{e0041}'],
    ['\u2800\u{1d159}', '\\u{2800}\\u{1d159}'],
    ['a\u00a0b\u3000c\u2028d', 'a\\u{a0}b\\u{3000}c\\u{2028}d'],
    ['\ue000\uffff\u0378', '\\u{e000}\\u{ffff}\\u{378}'],
    ['\u0338"\u0338\n\u0301', '\\u{338}"\\u{338}\n\\u{301}'],
    ['a\u0301\u0301\u0301\u0301\u0301\u0301', 'a\u0301\u0301\u0301\u0301\\u{301}\\u{301}'],
    ['\u3164\u0301', '\\u{3164}\\u{301}'],
  ])('writes out %j', (text, expected) => {
    expect(forTerminal(text)).toBe(expected)
  })

  it('leaves honest text unchanged: several lines, letters of all scripts, pairs of surrogates', () => {
    const text = 'two\nlines, Überfahrt, 東京, עברית, 😀 <img src=x> [x](javascript:alert(1)) ::error::'
    expect(forTerminal(text)).toBe(text)
  })

  it('lets no control character through and does nothing the second time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const clean = forTerminal(text)
        expect(clean).not.toMatch(unsafe)
        expect(forTerminal(clean)).toBe(clean)
      }),
    )
  })
})

describe('forLine', () => {
  it('keeps one line one line, so that no text can forge the next', () => {
    expect(forLine('x\n::add-mask::a\u2028b\u2029c')).toBe('x\\u{a}::add-mask::a\\u{2028}b\\u{2029}c')
  })
})

describe('forJson', () => {
  it('forJson escapes what a terminal would act on', () => {
    expect(forJson({ a: 'x\u009b31m\u202ey\u007f' }, 2)).toBe('{\n  "a": "x\\u009b31m\\u202ey\\u007f"\n}')
    expect(forJson('\ud800a\u{e0041}')).toBe('"\\ud800a\\udb40\\udc41"')
  })

  it('forJson means the same and prints safely', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const json = forJson({ [text]: text }, 2)
        expect(json).not.toMatch(unsafe)
        expect(JSON.parse(json)).toEqual({ [text]: text })
      }),
    )
  })
})

describe('forUrl', () => {
  it.each([
    ['https://a.example/b.tif', 'https://a.example/b.tif'],
    ['https://a.example/b.tif?sig=abc&se=2026#frag', 'https://a.example/b.tif?sig=…&se=…'],
    ['https://a.example/b?justatoken', 'https://a.example/b?…'],
    ['https://a.example/b?a=b=c', 'https://a.example/b?a=…'],
    ['https://a.example/b?', 'https://a.example/b?…'],
    ['https://ada:pw@a.example/b', 'https://a.example/b'],
    ['https:\\\\ada:pw@a.example/b', 'https://a.example/b'],
    ['//ada:pw@a.example/b?x=1', '//a.example/b?x=…'],
    ['https://token@a.example/b', 'https://a.example/b'],
    ['https://:pw@a.example/b', 'https://a.example/b'],
    ['x//a@b', 'x//a@b'],
    ['b?=secret', 'b?=…'],
    ['b?x', 'b?…'],
    ['./b.tif?token=1#x', './b.tif?token=…'],
    ['s3://bucket/key?versionId=1', 's3://bucket/key?versionId=…'],
    ['https://a.example/\u202e?x\n=1', 'https://a.example/\\u{202e}?x\\u{a}=…'],
  ])('shows %s as %s', (address, expected) => {
    expect(forUrl(address)).toBe(expected)
  })

  it('shows no value of a query', () => {
    fc.assert(
      fc.property(
        fc.webUrl({ withQueryParameters: true, withFragments: true }),
        fc.stringMatching(/^[A-Za-z0-9]{12,20}$/),
        (url, secret) => {
          const address = new URL(url)
          address.searchParams.set('key', secret)
          expect(forUrl(address.href)).not.toContain(secret)
        },
      ),
    )
  })
})

describe('an error on the command line', () => {
  it('is one line of code, pointer and message, and the lines of its hint and reasons', () => {
    const reason = new SelectionError('SCHEME_MISMATCH', 'no credential', { pointer: '/b', hint: 'first\nsecond' })
    const error = new SelectionError('NO_CREDENTIAL', 'nothing\nfits \u001b[1A', { pointer: '/a\n', hint: 'add one', reasons: [reason] })
    expect(errorText(error)).toBe(
      [
        'error NO_CREDENTIAL /a\\u{a}: nothing\\u{a}fits \\u{1b}[1A',
        '  add one',
        '  - SCHEME_MISMATCH /b: no credential',
        '    first',
        '    second',
      ].join('\n'),
    )
    expect(errorText(reason, 'warning')).toBe('warning SCHEME_MISMATCH /b: no credential\n  first\n  second')
  })

  it('has no place for a pointer or a hint that it does not have', () => {
    expect(headline({ code: 'NO_CREDENTIAL', message: 'nothing' })).toBe('NO_CREDENTIAL: nothing')
    expect(hintLines(undefined, '  ')).toEqual([])
  })
})
