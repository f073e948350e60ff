import { expect, it } from 'vitest'
import { fixText } from '../../src/lint/fix/fix-text.ts'
import { type Format, reporterOf } from '../../src/lint/reporters/report.ts'

it.each([[new TextEncoder().encode('{}')], [{}]])('fixText refuses %o and says how to read a file', (source) => {
  expect(() => fixText(source as unknown as string)).toThrow(/^fixText needs the JSON text as a string/)
})

it('reporterOf lists the formats when it is given another', () => {
  expect(() => reporterOf('jsn' as Format)).toThrow(/^unknown format jsn; formats: pretty, /)
})
