import { describe, expect, it } from 'vitest'
import { saslprep } from '../../src/crypto/saslprep.ts'

describe('saslprep', () => {
  it.each([
    ['RFC 4013 §3 example 1', 'I\u00adX', 'IX'],
    ['RFC 4013 §3 example 2', 'user', 'user'],
    ['RFC 4013 §3 example 3', 'USER', 'USER'],
    ['RFC 4013 §3 example 4', '\u00aa', 'a'],
    ['RFC 4013 §3 example 5', '\u2168', 'IX'],
    ['a space of another width', 'a\u2003b\u3000c', 'a b c'],
    ['a zero-width space, which is in two tables', 'a\u200bb', 'a b'],
    ['what vanishes', 'a\u200d\u2060\ufeff\ufe0fb', 'ab'],
    ['decomposed letters', 'A\u030a', '\u00c5'],
    ['letters from right to left', '\u0627\u0031\u0628', '\u0627\u0031\u0628'],
    ['a character younger than the tables', '\u{1f511}', '\u{1f511}'],
    ['everything that a keyboard has', ' !"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~', ' !"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'],
  ])('prepares %s', (_name, text, prepared) => {
    expect(saslprep(text)).toBe(prepared)
  })

  it.each([
    ['RFC 4013 §3 example 6', '\u0007'],
    ['RFC 4013 §3 example 7', '\u0627\u0031'],
    ['two directions', '\u0627a\u0628'],
    ['a left-to-right start', '1\u0628'],
    ['nothing', ''],
    ['nothing that is left', '\u00ad\u200c'],
    ['a lone surrogate', 'a\ud800'],
    ['private use', 'a\ue000'],
    ['private use beyond the BMP', 'a\u{10fffd}'],
    ['a noncharacter', 'a\u{1fffe}'],
    ['a replacement character', 'a\ufffd'],
    ['a change of direction', 'a\u202eb'],
    ['an ideographic description', '\u2ff0'],
    ['a language tag', 'a\u{e0041}'],
    ['a line separator', 'a\u2028'],
    ['DEL', 'a\u007f'],
    ['a C1 control', 'a\u0085'],
  ])('refuses %s', (_name, text) => {
    expect(saslprep(text)).toBeUndefined()
  })

  it('changes nothing that it has prepared', () => {
    for (const text of ['\u2168\u00ad', '\uff21\u3000\u00aa', '\ufb01x']) expect(saslprep(saslprep(text) ?? '')).toBe(saslprep(text))
  })
})
