import { expect, it } from 'vitest'
import { bytesText, timeText } from '../../../src/cli/units.ts'

it.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [999, '999 bytes'],
  [1000, '1.0 kB'],
  [99_949, '99.9 kB'],
  [99_950, '100 kB'],
  [999_499, '999 kB'],
  [999_500, '1.0 MB'],
  [1_073_741_824, '1.1 GB'],
  [5e18, '5000 PB'],
])('reports %d bytes as %s', (bytes, text) => {
  expect(bytesText(bytes)).toBe(text)
})

it.each([
  [499, '0:00'],
  [7_400, '0:07'],
  [59_600, '1:00'],
  [750_000, '12:30'],
  [11_045_000, '3:04:05'],
  [400_000_000, '111:06:40'],
])('reports %d milliseconds as %s', (milliseconds, text) => {
  expect(timeText(milliseconds)).toBe(text)
})
