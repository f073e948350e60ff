import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { styleOf } from '../../src/cli/style.ts'

const stream = (isTTY: boolean) => Object.assign(new PassThrough(), { isTTY })
const red = (env: Record<string, string>, isTTY: boolean) => styleOf({ env }, stream(isTTY)).red('x')

describe('styleOf', () => {
  it('colours a terminal and nothing else', () => {
    expect(red({ TERM: 'xterm' }, true)).toBe('\x1b[31mx\x1b[0m')
    expect(red({ TERM: 'xterm' }, false)).toBe('x')
    expect(red({ TERM: 'dumb' }, true)).toBe('x')
    expect(red({ TERM: 'xterm', NO_COLOR: '1' }, true)).toBe('x')
  })

  it.each([
    [{ LANG: 'de_DE.UTF-8' }, '✓'],
    [{ LC_ALL: 'C', LANG: 'de_DE.UTF-8' }, '+'],
    [{ LC_CTYPE: 'C.utf8' }, '✓'],
    [{ LANG: 'en_GB.UTF-8', TERM: 'dumb' }, '+'],
    [{}, '+'],
  ])('marks in %j by %s', (env, tick) => {
    expect(styleOf({ env }, stream(false)).tick).toBe(tick)
  })
})
