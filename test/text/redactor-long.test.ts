import { describe, expect, it } from 'vitest'
import { viewsOf } from '../../src/text/decodings.ts'
import { Redactor } from '../../src/text/redactor.ts'

function redactorOf(...known: readonly string[]): Redactor {
  const redactor = new Redactor()
  for (const secret of known) redactor.add(secret)
  return redactor
}

/** The longest text that is searched. */
const LONGEST = 2 ** 14

const MANY_READINGS = '%255c%5cu0025&amp;#37;+&#x5c;AAAA'

/** Texts with as many decodings as possible. */
const HOSTILE: readonly string[] = [
  MANY_READINGS,
  '%2525252525',
  '\\\\u0025',
  '&amp;amp;amp;#37;',
  'QUJD',
  'SlRJMUpUST0=',
  '61',
  '3631',
  '%42',
  'JTI1XHUwMDI1JmFtcDs ',
  'ü%C3%BC🔑',
]

/** The number of decodings, and of all their bytes. */
function readingsOf(text: string): { readonly count: number; readonly bytes: number } {
  let [count, bytes] = [0, 0]
  for (const view of viewsOf(text)) {
    count++
    bytes += view.bytes.length
  }
  return { count, bytes }
}

describe('a redactor of long texts', () => {
  it('leaves texts that are made to have many readings', () => {
    const text = MANY_READINGS.repeat(480)
    expect(redactorOf('s3cr3t-öffne-dich').scrub(text)).toBe(text)
  })

  it.each(HOSTILE)('reads as many bytes as the text is long, times a constant, of %j', (part) => {
    const [one, four] = [readingsOf(part.repeat(200)), readingsOf(part.repeat(800))]
    expect(four.count).toBe(one.count)
    // One text, nine encodings in it, nine in each of them, and nine in those.
    expect(four.count).toBeLessThanOrEqual(1 + 9 + 9 ** 2 + 9 ** 3)
    expect(four.bytes).toBeLessThanOrEqual(4.1 * one.bytes)
  })

  it('reads a secret in two encodings behind fourteen thousand characters of other escapes', () => {
    const noise = MANY_READINGS.repeat(450)
    const base64 = Buffer.from('s3cr3t-öffne-dich').toString('base64')
    for (const form of [encodeURIComponent(base64), JSON.stringify(base64), Buffer.from(base64).toString('base64url')]) {
      const shown = redactorOf('s3cr3t-öffne-dich').scrub(`${noise} ${form}`)
      expect(shown.startsWith(noise)).toBe(true)
      expect(shown.slice(noise.length)).toMatch(/^ "?\[secret\](?:%3D|=)*"?$/)
    }
  })

  // Either of these took minutes, or failed, when every place was compared anew.
  it.each([
    ['repeats a secret that repeats itself', 'a'.repeat(LONGEST - 2), 1],
    ['repeats its beginning in base64', 'YWFh'.repeat(LONGEST / 4 - 1), 1],
    ['is one word of hexadecimal digits', '61'.repeat(LONGEST / 2 - 1), 1],
    ['is one word of base64', 'QUJD'.repeat(LONGEST / 4 - 1), 0],
    ['is one word of escapes', '%42'.repeat(LONGEST / 3 - 1), 0],
  ])('takes a text in proportion to its length that %s', { timeout: 60_000 }, (_, text, found) => {
    const redactor = redactorOf(...Array.from({ length: 50 }, (_none, index) => `${'a'.repeat(8000 + index)}${index}`))
    const shown = redactor.scrub(`<${text}>`)
    expect([shown.length, shown.includes('[secret]')]).toEqual(found ? ['<[secret]>'.length, true] : [text.length + 2, false])
  })

  it('cuts a text that is longer than it can search, and says so', () => {
    const redactor = redactorOf('s3cr3t-öffne-dich')
    const filled = 'x '.repeat(LONGEST / 2)
    expect(redactor.scrub(filled)).toBe(filled)
    expect(redactor.scrub(`${filled}s3cr3t-öffne-dich`)).toBe(`${filled}… (17 more characters)`)
    expect(redactor.scrub(`${filled.slice(5)}s3cr3t-öffne-dich`)).toBe(`${filled.slice(5)}[secret]… (12 more characters)`)
    expect(redactorOf().scrub(`${filled}more`)).toBe(`${filled}more`)
  })
})
