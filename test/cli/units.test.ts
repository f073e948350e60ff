import { describe, expect, it } from 'vitest'
import { expiryText } from '../../src/cli/units.ts'

describe('expiryText', () => {
  const now = Date.parse('2026-11-20T09:02:00Z')

  it.each([
    ['2026-11-20T10:00:00Z', 'in 58 minutes'],
    ['2026-11-20T09:02:01.000Z', 'in 1 second'],
    ['2026-11-20T09:03:30Z', 'in 90 seconds'],
    ['2026-11-20T12:02:00Z', 'in 3 hours'],
    ['2026-11-27T09:02:00Z', 'in 7 days'],
    ['2026-11-20T08:02:00Z', '60 minutes ago'],
  ])('recognizes %s as %s', (time, words) => {
    expect(expiryText(time, now)).toBe(`${time} (${words})`)
  })
})
