import { describe, expect, it } from 'vitest'
import { FailedFiles } from '../../../src/cli/download/failed-files.ts'
import type { Diagnostics } from '../../../src/cli/io.ts'
import { AuthError, type AuthErrorFields, type ErrorCode } from '../../../src/errors.ts'

let number = 0

function failed(
  name: string,
  code: ErrorCode,
  { resumable = 0, message, ...fields }: AuthErrorFields & { resumable?: number; message?: string } = {},
) {
  const file = { number: ++number, name, path: `/d/${name}`, url: 'https://a.example/f', pointer: '/assets/f' }
  return { kind: 'failed' as const, file, error: new AuthError(code, message ?? `${code} of "${name}"`, fields), received: 0, resumable }
}

async function told(failures: FailedFiles): Promise<readonly string[]> {
  const lines: string[] = []
  const diagnostics: Diagnostics = {
    error: async ({ message, hint }) => void lines.push(hint === undefined ? message : `${message} (${hint})`),
    warn: ({ code, message }) => void lines.push(`${code}: ${message}`),
    note: async (text) => void lines.push(text),
  }
  await failures.tell(diagnostics)
  return lines
}

describe('FailedFiles', () => {
  it('reports causes apart by code, credential, origin and message without its numbers, and puts the worst last', async () => {
    const failures = new FailedFiles()
    failures.fail(failed('a', 'DISK_FULL'))
    for (const name of ['b', 'c', 'd', 'e', 'f']) failures.fail(failed(name, 'NETWORK_RESET'))
    failures.fail(failed('g', 'NETWORK_RESET', { url: 'https://b.example/g?x=1' }))
    const says = (message: string) => ({ message, url: 'https://a.example/f' })
    failures.fail(failed('j', 'FILE_INCOMPLETE', says('https://a.example/j: 3 of 10 bytes were received')))
    failures.fail(failed('k', 'FILE_INCOMPLETE', says('https://a.example/k: 40 of 90 bytes were received')))
    failures.fail(failed('l', 'FILE_INCOMPLETE', says('https://a.example/l: it has no length')))
    failures.fail(failed('h', 'AUTH_REJECTED', { credential: 'mine' }))
    failures.fail(failed('i', 'AUTH_REJECTED', { credential: 'other' }))
    expect(await told(failures)).toEqual([
      'AUTH_REJECTED of "h"',
      '  file: h',
      'AUTH_REJECTED of "i"',
      '  file: i',
      'NETWORK_RESET of "b"',
      '  5 files: b, c, d and 2 more files',
      'NETWORK_RESET of "g"',
      '  file: g',
      'https://a.example/j: 3 of 10 bytes were received',
      '  2 files: j, k',
      'https://a.example/l: it has no length',
      '  file: l',
      'DISK_FULL of "a"',
      '  file: a',
    ])
    expect([...failures.exits()].sort()).toEqual([3, 3, 5, 5, 5, 5, 6])
  })

  it('reports what is kept, without hiding a better hint', async () => {
    const failures = new FailedFiles()
    failures.fail(failed('a', 'FILE_INCOMPLETE', { resumable: 10 }))
    failures.fail(failed('b', 'RATE_LIMITED', { hint: 'of the library' }))
    failures.fail(failed('c', 'LOGIN_REQUIRED', { resumable: 10, hint: 'stac-auth login' }))
    expect(await told(failures)).toEqual([
      'LOGIN_REQUIRED of "c" (stac-auth login)',
      '  file: c',
      'FILE_INCOMPLETE of "a" (the received part is kept: run the same command to resume)',
      '  file: a',
      'RATE_LIMITED of "b" (run the same command later to resume; --per-host and --rate lower the request rate)',
      '  file: b',
    ])
  })

  it('counts a warning that made a file fail, escapes names, and reports a warning of several files once', async () => {
    const failures = new FailedFiles()
    const { file, ...event } = failed('a\u001b[2J', 'CONTENT_TYPE_UNEXPECTED')
    failures.fail({ file, ...event })
    for (const name of ['a', 'b', 'c'])
      failures.warn({ kind: 'warning', file: { ...file, name }, code: 'CHECKSUM_UNSUPPORTED', message: 'of no known kind' })
    const [warned, , files] = await told(failures)
    expect([failures.exits(), warned, files]).toEqual([
      [6],
      'CHECKSUM_UNSUPPORTED: a: of no known kind (and 2 other files)',
      '  file: a\\u{1b}[2J',
    ])
  })
})
