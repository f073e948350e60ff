import { PassThrough, Writable } from 'node:stream'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { Forecast } from '../../../src/cli/download/dry-run.ts'
import { Progress, personAudience } from '../../../src/cli/download/progress.ts'
import { createDiagnostics } from '../../../src/cli/io.ts'

let told: string
beforeEach(() => {
  told = ''
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
})

/** Somebody who reads a log. */
async function reader(json = false) {
  const stderr = new Writable({
    write: (text, _encoding, done) => {
      told += text
      done()
    },
  })
  const io = { stdin: new PassThrough(), stdout: stderr, stderr, env: {}, signal: new AbortController().signal }
  const forecast = new Forecast(false)
  const assets = { a: { href: 'a.tif', 'file:size': 600_000 }, b: { href: 'b.tif', 'file:size': 400_000 } }
  for await (const _ of forecast.watch(
    (async function* () {
      yield { document: { type: 'Feature', assets } }
    })(),
    {},
  ));
  const progress = new Progress(forecast)
  return { progress, audience: personAudience({ io, diagnostics: createDiagnostics(io, json), run: () => async () => {} }, progress) }
}
const file = { number: 1, name: 'a.tif', path: '/d/a.tif', url: 'https://a.example/', pointer: '', size: 600_000 }

describe('without a terminal', () => {
  it('a line each minute says how far it is', async () => {
    const { audience, progress } = await reader()
    progress.add({ kind: 'started', file, size: 600_000, resumed: 0 })
    vi.advanceTimersByTime(59_999)
    expect(told).toBe('')
    vi.advanceTimersByTime(1)
    expect(told).toBe('0 of 2 files  0 bytes of 1.0 MB  0 bytes/s\n')
    progress.add({ kind: 'progress', file, bytes: 240_000, size: 600_000 })
    vi.advanceTimersByTime(60_000)
    expect(told.split('\n')[1]).toBe('0 of 2 files  240 kB of 1.0 MB  4.0 kB/s  3:10 left')
    audience.end()
    vi.advanceTimersByTime(600_000)
    expect(told.split('\n')).toHaveLength(3)
  })

  it('nothing is said before anything is on its way', async () => {
    const { audience } = await reader()
    vi.advanceTimersByTime(600_000)
    audience.end()
    expect(told).toBe('')
  })
})
