import { describe, expect, it } from 'vitest'
import { EXIT_CODES, EXIT_ORDER, exitCodeOf, exitOfSignal, worstExit } from '../../src/cli/exit-code.ts'

describe('exitCodeOf', () => {
  it.each([
    ['SCOPE_NOT_GRANTED', 0],
    ['USAGE', 2],
    ['CONFIG_INVALID', 2],
    ['TARGET_NOT_FOUND', 2],
    ['NO_CREDENTIAL', 3],
    ['AUTH_REJECTED', 3],
    ['HTTP_401', 3],
    ['HTTP_403', 3],
    ['CREDENTIAL_TARGET_UNTRUSTED', 4],
    ['SCHEME_NOT_FOUND', 4],
    ['TLS_DISABLED', 4],
    ['DOC_TOO_DEEP', 4],
    ['HTTP_404', 5],
    ['HTTP_503', 5],
    ['NETWORK_REFUSED', 5],
    ['TLS_EXPIRED', 5],
    ['TIMEOUT_HEADERS', 5],
    ['PROXY_REFUSED', 5],
    ['FILE_INCOMPLETE', 5],
    ['DOC_NOT_JSON', 6],
    ['PATH_EXISTS', 6],
    ['FILE_ACCESS', 6],
    ['ABORTED', 130],
    ['FINDINGS_UNLISTED', 0],
    ['CHECKSUM_UNSUPPORTED', 0],
    ['VOICE_FAILED', 5],
    ['HTTP_4040', 70],
    ['INTERNAL', 70],
    ['toString', 70],
  ])('%s ends in %i', (code, exit) => {
    expect(exitCodeOf(code)).toBe(exit)
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
