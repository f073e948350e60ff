import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { styleOf } from '../../src/cli/io.ts'

const stream = (isTTY: boolean) => Object.assign(new PassThrough(), { isTTY })
const red = (env: Record<string, string>, isTTY: boolean) => styleOf({ env }, stream(isTTY)).red('x')

describe('styleOf', () => {
  it('colours a terminal and nothing else', () => {
    expect(red({ TERM: 'xterm' }, true)).toBe('\x1b[31mx\x1b[0m')
    expect(red({ TERM: 'xterm' }, false)).toBe('x')
    expect(red({ TERM: 'dumb' }, true)).toBe('x')
    expect(red({ TERM: 'xterm', NO_COLOR: '1' }, true)).toBe('x')
  })

  it('colours any stream with FORCE_COLOR, and none with FORCE_COLOR=0; NO_COLOR comes before both', () => {
    expect(red({ FORCE_COLOR: '1' }, false)).toBe('\x1b[31mx\x1b[0m')
    expect(red({ FORCE_COLOR: '1', TERM: 'dumb' }, false)).toBe('\x1b[31mx\x1b[0m')
    expect(red({ FORCE_COLOR: '0', TERM: 'xterm' }, true)).toBe('x')
    expect(red({ FORCE_COLOR: '1', NO_COLOR: '1', TERM: 'xterm' }, true)).toBe('x')
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
