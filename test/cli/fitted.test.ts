import { describe, expect, it } from 'vitest'
import { fitted, shortened, widthOf } from '../../src/cli/live-block.ts'

const parts = [
  { text: 'files', rank: 0 },
  { text: '', rank: 1 },
  { text: '######', rank: 3 },
  { text: 'left', rank: 2 },
]

describe('fitted', () => {
  it.each([
    [40, 'files  ######  left'],
    [19, 'files  ######  left'],
    [18, 'files  left'],
    [11, 'files  left'],
    [10, 'files'],
    [4, 'left'],
    [0, ''],
  ])('progress lines fit into %d columns', (width, text) => {
    expect(fitted(parts, width)).toBe(text)
  })
})

describe('shortened', () => {
  it('keeps the end', () => {
    expect(shortened('a/b/c.tif', 9, '…')).toBe('a/b/c.tif')
    expect(shortened('a/b/c.tif', 6, '…')).toBe('…c.tif')
    expect(shortened('a/b/c.tif', 6, '...')).toBe('...tif')
  })

  it('counts what may be wide twice, and cuts no character in half', () => {
    expect(widthOf('地図é')).toBe(5)
    expect(widthOf(shortened('x/地図地図地図.tif', 9, '…'))).toBeLessThanOrEqual(9)
    expect(shortened('x/🛰🛰.tif', 7, '…')).toBe('…🛰.tif')
  })
})
