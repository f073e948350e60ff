import { describe, expect, it } from 'vitest'
import { Redactor } from '../../src/text/redactor.ts'

function redactorOf(...known: readonly string[]): Redactor {
  const redactor = new Redactor()
  for (const secret of known) redactor.add(secret)
  return redactor
}

describe('a redactor of long texts', () => {
  it('takes texts that are made to have many readings', () => {
    const text = '%255c%5cu0025&amp;#37;+&#x5c;AAAA'.repeat(2000)
    expect(redactorOf('s3cr3t-öffne-dich').scrub(text)).toBe(text)
  })

  // Either of these took minutes, or failed, when every place was compared anew.
  it.each([
    ['repeats a secret that repeats itself', 'a'.repeat(2 ** 18), 1],
    ['repeats its beginning in base64', 'YWFh'.repeat(2 ** 16), 1],
    ['is one word of hexadecimal digits', '61'.repeat(2 ** 17), 1],
    ['is one word of base64', 'QUJD'.repeat(5 * 2 ** 19), 0],
    ['is one word of escapes', '%42'.repeat(2 ** 18), 0],
  ])('takes a text in proportion to its length that %s', { timeout: 60_000 }, (_, text, found) => {
    const redactor = redactorOf(...Array.from({ length: 50 }, (_none, index) => `${'a'.repeat(8000 + index)}${index}`))
    const shown = redactor.scrub(`<${text}>`)
    expect([shown.length, shown.includes('[secret]')]).toEqual(found ? ['<[secret]>'.length, true] : [text.length + 2, false])
  })

  it('hides a secret behind megabytes of base64', () => {
    const text = Buffer.from(`${'x'.repeat(9 * 2 ** 20)}s3cr3t-öffne-dich`).toString('base64')
    const shown = redactorOf('s3cr3t-öffne-dich').scrub(text)
    expect(shown.slice(12 * 2 ** 20)).toMatch(/^\[secret\]=*$/)
  })
})
