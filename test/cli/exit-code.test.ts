import { describe, expect, it } from 'vitest'
import { EXIT_CODES, EXIT_ORDER, exitCodeOf, exitOfSignal, worstExit } from '../../src/cli/exit-code.ts'

const EXITS = {
  0: ['SCOPE_NOT_GRANTED', 'FINDINGS_UNLISTED', 'CHECKSUM_UNSUPPORTED'],
  2: ['USAGE', 'CONFIG_INVALID', 'TARGET_NOT_FOUND'],
  3: ['NO_CREDENTIAL', 'AUTH_REJECTED', 'HTTP_401', 'HTTP_403'],
  4: ['CREDENTIAL_TARGET_UNTRUSTED', 'SCHEME_NOT_FOUND', 'TLS_DISABLED', 'DOC_TOO_DEEP'],
  5: ['HTTP_404', 'HTTP_503', 'NETWORK_REFUSED', 'TLS_EXPIRED', 'TIMEOUT_HEADERS', 'PROXY_REFUSED', 'FILE_INCOMPLETE', 'VOICE_FAILED'],
  6: ['DOC_NOT_JSON', 'PATH_EXISTS', 'FILE_ACCESS'],
  70: ['HTTP_4040', 'INTERNAL', 'toString'],
  130: ['ABORTED'],
}

describe('exitCodeOf', () => {
  it.each(Object.entries(EXITS))('is %s for %j', (exit, codes) => {
    expect(codes.map(exitCodeOf)).toEqual(codes.map(() => Number(exit)))
  })
})

describe('worstExit', () => {
  it.each([
    [[], 0],
    [[0, 1, 0], 1],
    [[1, 3, 4], 4],
    [[4, 5], 5],
    [[5, 6], 6],
    [[6, 2, 1], 2],
    [[2, 130], 130],
    [[143, 6], 143],
  ])('worstExit of %j is %i', (codes, exit) => {
    expect(worstExit(codes)).toBe(exit)
  })
})

it('the help text lists every exit code', () => {
  const listed = EXIT_CODES.map(([code]) => code)
  expect(listed.toSorted((one, other) => one - other)).toEqual([0, ...EXIT_ORDER].toSorted((one, other) => one - other))
})

describe('exitOfSignal', () => {
  it('reports SIGTERM and SIGHUP from every other interruption', () => {
    expect(exitOfSignal(AbortSignal.abort('SIGHUP'))).toBe(143)
    expect(exitOfSignal(AbortSignal.abort('SIGTERM'))).toBe(143)
    expect(exitOfSignal(AbortSignal.abort('SIGINT'))).toBe(130)
  })
})
