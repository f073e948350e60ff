import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { run } from './run.ts'

/** A stdout that fails with that error. */
const failing = (error: Error) => new Writable({ write: (_chunk, _encoding, done) => done(error) })
const systemError = (code: string) => Object.assign(new Error(`${code}: hunter2`), { code })

describe('main', () => {
  it.each([
    ['EPIPE', 130, /^$/],
    ['ENOSPC', 6, /^error DISK_FULL: /],
    ['EIO', 6, /^error FILE_ACCESS: /],
  ])('meets %s on stdout with %i', async (code, exit, message) => {
    const outcome = await run(['rules'], { stdout: failing(systemError(code)) })
    expect([outcome.code, outcome.stderr]).toEqual([exit, expect.stringMatching(message)])
    expect(outcome.stderr).not.toContain('hunter2')
  })

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ])('ends by %s with %i, whatever else goes wrong', async (name, exit) => {
    const outcome = await run(['explain', 'no-such-file.json'], { signal: AbortSignal.abort(name) })
    expect(outcome).toMatchObject({ code: exit, stderr: 'error ABORTED: interrupted\n' })
  })

  it('reports its own failures in one line, without their text, and where only when it is asked to', async () => {
    const broken = () =>
      Object.assign(new Writable(), {
        write: () => {
          throw new TypeError('hunter2')
        },
      })
    const outcome = await run(['rules'], { stdout: broken() })
    expect(outcome.code).toBe(70)
    expect(outcome.stderr).toMatch(/^error INTERNAL: internal error: unexpected TypeError\n {2}.*STAC_AUTH_DEBUG.*\n$/)
    const debugged = await run(['rules'], { stdout: broken(), env: { STAC_AUTH_DEBUG: '1' } })
    expect(debugged.stderr).toContain('    at ')
    expect(outcome.stderr + debugged.stderr).not.toContain('hunter2')
  })
})
