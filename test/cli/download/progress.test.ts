import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { Forecast } from '../../../src/cli/download/dry-run.ts'
import { Progress, personAudience, progressLines, RateMeter } from '../../../src/cli/download/progress.ts'
import { createDiagnostics, styleOf } from '../../../src/cli/io.ts'
import { AbortedError, NetworkError } from '../../../src/errors.ts'
import type { DownloadFile } from '../../../src/node/download/index.ts'
import { blockIo } from '../live-block-io.ts'

const fileOf = (number: number, size?: number): DownloadFile => {
  const name = `item/${number}.tif`
  return { number, name, path: `/d/${name}`, url: 'https://a.example/', pointer: '', ...(size !== undefined && { size }) }
}
const plain = styleOf({ env: {} }, process.stderr)

let forecast: Forecast
let progress: Progress
const lines = (width = 80, height = 24) => progressLines(progress, { width, height }, plain)

/** Four files: two of 100 bytes by their documents, two of unknown size. */
async function foreseen(isComplete: boolean): Promise<void> {
  const assets = Object.fromEntries([1, 2, 3, 4].map((key) => [key, { href: `${key}.tif`, ...(key < 3 && { 'file:size': 100 }) }]))
  async function* inputs() {
    yield { document: { type: 'Feature', assets } }
    if (!isComplete) await new Promise(() => {})
  }
  const watched = forecast.watch(inputs(), {})
  await watched.next()
  if (isComplete) await watched.next()
}

beforeEach(() => {
  forecast = new Forecast(false)
  progress = new Progress(forecast)
})

describe('progress', () => {
  it('expects nothing before it knows', async () => {
    expect(lines()).toEqual(['looking for files'])
    await foreseen(false)
    expect(progress.total).toBeUndefined()
    expect(lines()).toEqual(['0 of 4+ files  0 bytes  0 bytes/s'])
  })

  it('takes files of unknown size to be like the others', async () => {
    await foreseen(true)
    expect(progress.total).toBeUndefined()
    progress.add({ kind: 'started', file: fileOf(1, 100), size: 100, resumed: 40 })
    expect([progress.bytes, progress.total]).toEqual([40, 400])
    progress.add({ kind: 'started', file: fileOf(3), size: 300, resumed: 0 })
    expect(progress.total).toBe(100 + 100 + 300 + 200)
    progress.add({ kind: 'written', file: fileOf(1, 100), bytes: 100, received: 60, verified: [] })
    progress.add({ kind: 'failed', file: fileOf(3), error: new NetworkError('HTTP_404', 'gone'), received: 0, resumable: 0 })
    expect([progress.finished, progress.failed, progress.bytes, progress.total]).toEqual([2, 1, 100, 300])
    progress.add({ kind: 'kept', file: fileOf(2, 100), bytes: 100, verified: ['size'] })
    progress.add({ kind: 'kept', file: fileOf(4), bytes: 5, verified: [] })
    expect([progress.finished, progress.bytes, progress.total]).toEqual([4, 205, 205])
  })

  it('counts a stopped file neither as finished nor as failed', async () => {
    await foreseen(true)
    progress.add({ kind: 'started', file: fileOf(1, 100), size: 100, resumed: 40 })
    progress.add({ kind: 'failed', file: fileOf(1, 100), error: new AbortedError('stopped'), received: 0, resumable: 40 })
    expect([progress.finished, progress.failed, progress.bytes]).toEqual([0, 0, 40])
  })

  it('shows the rate, the remaining time, and what a file waits for', async () => {
    await foreseen(true)
    progress.add({ kind: 'started', file: fileOf(1, 100), size: 100, resumed: 0 })
    progress.look(0)
    progress.add({ kind: 'progress', file: fileOf(1, 100), bytes: 50, size: 100 })
    progress.add({ kind: 'retry', file: fileOf(2, 100), error: new NetworkError('NETWORK_RESET', 'reset'), delay: 3000, attempt: 1 })
    progress.look(1000)
    expect(lines()).toEqual([
      '0 of 4 files  ###.................  50 bytes of 400 bytes  50 bytes/s  0:07 left',
      `  ${'item/1.tif'.padEnd(46)}   50%  of 100 bytes  50 bytes/s`,
      `  ${'item/2.tif'.padEnd(28)}    0%  of 100 bytes  NETWORK_RESET, retry in 0:03`,
    ])
  })

  it('keeps to the screen', async () => {
    await foreseen(true)
    for (let number = 1; number <= 12; number++) progress.add({ kind: 'started', file: fileOf(number, 100), size: 100, resumed: 0 })
    expect(lines(80, 24)).toHaveLength(10)
    expect(lines(80, 24).at(-1)).toBe('  and 4 more')
    expect(lines(80, 5)).toHaveLength(5)
    expect(lines(80, 1)).toHaveLength(1)
    for (const width of [20, 30, 50, 100]) expect(lines(width).filter((line) => line.length > width)).toEqual([])
  })
})

it('a log gets a line each minute once something is on its way', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  await foreseen(true)
  const { io, written } = blockIo(false)
  const audience = personAudience({ io, diagnostics: createDiagnostics(io, false), run: () => async () => {} }, progress)
  vi.advanceTimersByTime(600_000)
  expect(written()).toBe('')
  progress.add({ kind: 'started', file: fileOf(1, 100), size: 100, resumed: 0 })
  vi.advanceTimersByTime(60_000)
  expect(written()).toBe('0 of 4 files  0 bytes of 400 bytes  0 bytes/s\n')
  progress.add({ kind: 'progress', file: fileOf(1, 100), bytes: 60, size: 100 })
  vi.advanceTimersByTime(60_000)
  expect(written().split('\n')[1]).toBe('0 of 4 files  60 bytes of 400 bytes  1 byte/s  5:40 left')
  audience.end()
  vi.advanceTimersByTime(600_000)
  expect(written().split('\n')).toHaveLength(3)
})

it.each([
  [
    [
      [0, 0],
      [1000, 500],
    ],
    500,
  ],
  [Array.from({ length: 41 }, (_, second) => [second * 1000, second < 30 ? second * 10 : 300 + (second - 30) * 70]), 70],
  [[], 0],
  [[[5, 100]], 0],
  [
    [
      [0, 100],
      [1000, 20],
    ],
    0,
  ],
])('a rate is the growth over the last ten seconds, never negative: of %j it is %i', (samples, rate) => {
  const meter = new RateMeter()
  for (const [at = 0, amount = 0] of samples) meter.add(at, amount)
  expect(meter.rate).toBe(rate)
})
