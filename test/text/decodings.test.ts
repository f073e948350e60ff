import { describe, expect, it } from 'vitest'
import { bytesOfBase64, latin1Of, utf8Of, viewsOf } from '../../src/text/decodings.ts'

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

/** The text and its decodings, each byte as one character. */
const readingsOf = (text: string) => Array.from(viewsOf(text), ({ bytes }) => latin1Of(bytes))

/** The bytes of the first decoding, each with the part of the text that it comes from. */
function partsOf(text: string): readonly (readonly [string, string])[] {
  const [, { bytes, starts, ends } = { bytes: new Uint8Array(), starts: [], ends: [] }] = viewsOf(text)
  return Array.from(bytes, (byte, at) => [String.fromCharCode(byte), text.slice(starts[at], ends[at])] as const)
}

describe('UTF-8', () => {
  it.each([0, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x1f511, 0x10ffff])(
    'of character %i is as others write it',
    (code) => {
      const text = `a${String.fromCodePoint(code)}b`
      expect(hexOf(utf8Of(text))).toBe(Buffer.from(text).toString('hex'))
    },
  )

  it.each([
    ['a first half alone', '\ud83d', 'eda0bd'],
    ['a first half before a letter', '\ud83dA', 'eda0bd41'],
    ['a second half alone', '\udc00', 'edb080'],
    ['two first halves', '\ud800\udbff', 'eda080edafbf'],
    ['two second halves', '\udc00\udfff', 'edb080edbfbf'],
    ['a first half before the character behind second ones', '\ud800\ue000', 'eda080ee8080'],
    ['the character before first halves, and a second one', '\ud7ff\udc00', 'ed9fbfedb080'],
    ['a character that ends as a first half does, and a second one', '\ua800\udc00', 'eaa080edb080'],
  ])('writes %s like characters', (_name, text, hex) => {
    expect(hexOf(utf8Of(text))).toBe(hex)
  })
})

describe('the readings of a text', () => {
  it.each([
    ['of nothing', '', []],
    ['of words', 'plain text: a=1, b=2', []],
    ['of signs that begin no escape', '100 % & \\', []],
    ['in percent', 'a%41%c3%BC%2', ['aA\xc3\xbc%2']],
    ['at both ends of a text', '%41-%42', ['A-B']],
    ['of control characters', '\\0\\b\\t\\n\\v\\f\\r', ['\0\b\t\n\v\f\r']],
    ['of escaped characters', '\\u0041\\x42\\u{1F511}\\q\\\\', ['AB\xf0\x9f\x94\x91q\\']],
    ['of a surrogate pair in two escapes', '\\ud83d\\udd11!', ['\xf0\x9f\x94\x91!']],
    ['of character references', '&#65;&#x42;&auml;&Hat;', ['AB\xc3\xa4^']],
    ['of a reference behind an unknown one', '&foo;&lt;', ['&foo;<']],
    ['of an unknown reference', '&foo;', []],
    ['of three encodings, and no fourth', '&amp;amp;amp;lt;', ['&amp;amp;lt;', '&amp;lt;', '&lt;']],
  ])('%s', (_name, text, others) => {
    expect(readingsOf(text)).toEqual([text, ...others])
  })

  it('have a replacement for references beyond Unicode', () => {
    expect(readingsOf('&#x10ffff;&#x110000;')).toContain('\xf4\x8f\xbf\xbf\xef\xbf\xbd')
  })

  it('join the halves of a pair also where they are in two encodings', () => {
    expect(readingsOf('%ed%a0%bd\\udd11')).toContain('\xf0\x9f\x94\x91')
    expect(readingsOf('%ed%a0\\udd11')).toContain('\xed\xa0\xed\xb4\x91')
  })

  it('begin at six digits of base64 and at eight hexadecimal ones', () => {
    expect(readingsOf('QUJDR')).toEqual(['QUJDR'])
    expect(readingsOf('QUJDRA')).toContain('ABCD\xff')
    expect(readingsOf('4142434').filter((reading) => reading.startsWith('ABC'))).toEqual([])
    expect(readingsOf('41424344')).toContain('ABCD\xff')
  })

  it('know which part of the text each byte comes from', () => {
    expect(partsOf('a%41é🔑')).toEqual([
      ['a', 'a'],
      ['A', '%41'],
      ...['\xc3', '\xa9'].map((byte) => [byte, 'é']),
      ...['\xf0', '\x9f', '\x94', '\x91'].map((byte) => [byte, '🔑']),
    ])
    expect(partsOf('\\ud83d\\udd11')).toEqual(['\xf0', '\x9f', '\x94', '\x91'].map((byte) => [byte, '\\ud83d\\udd11']))
  })

  it('have a byte of no text between words of digits, and give the last byte the digits that are left', () => {
    expect(partsOf('!QUJDREVGR?QUJDRA')).toEqual([
      ...[...'ABCDE'].map((byte, at) => [byte, ['QU', 'UJ', 'JD', 'RE', 'EV'][at]]),
      ['F', 'VGR'],
      ['\xff', 'R'],
      ...[...'ABCD'].map((byte, at) => [byte, ['QU', 'UJ', 'JD', 'RA'][at]]),
      ['\xff', 'A'],
    ])
  })
})

describe('bytes', () => {
  it('of base64 are those of both alphabets, with and without padding', () => {
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
    for (const word of [`${letters}+/`, `${letters}-_`, 'QUJDRA', 'QUJDRA==', 'QUJDREU='])
      expect(hexOf(bytesOfBase64(word)), word).toBe(Buffer.from(word, 'base64').toString('hex'))
  })

  it('of words shorter than six digits are none, whatever divides them', () => {
    for (const word of ['', 'QUJDR', ...[...'@[`{:.,* ÿ'].map((between) => `QUJD${between}QUJD`)])
      expect(bytesOfBase64(word), word).toEqual(new Uint8Array())
  })

  it('are each the character with its number', () => {
    const bytes = Uint8Array.from({ length: 20_000 }, (_, index) => index)
    expect(latin1Of(bytes)).toBe(Buffer.from(bytes).toString('latin1'))
  })
})
