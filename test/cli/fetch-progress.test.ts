import { setTimeout } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { FetchProgress, receivedLine } from '../../src/cli/download/fetch.ts'
import { blockIo } from './live-block-io.ts'

it.each([
  [{ bytes: 50_000_000, length: 100_000_000 }, 10_000_000, '50%  50.0 MB of 100 MB  10.0 MB/s  0:05 left'],
  [{ bytes: 1_500, length: undefined }, 100, '1.5 kB  100 bytes/s'],
  [{ bytes: 0, length: 0 }, 0, '0 bytes of 0 bytes  0 bytes/s'],
])('shows %j at %i bytes per second', (body, rate, line) => {
  expect(receivedLine(body, rate, 79)).toBe(line)
})

it('drops what does not fit, the amount last', () => {
  expect(receivedLine({ bytes: 50_000_000, length: 100_000_000 }, 10_000_000, 24)).toBe('50%  50.0 MB of 100 MB')
})

it('is displayed on a terminal only, and removed at the end', async () => {
  for (const isTTY of [true, false]) {
    const { io, written } = blockIo(isTTY)
    const progress = new FetchProgress(io)
    progress.show({ bytes: 1_000, length: 2_000 })
    await setTimeout(500)
    progress.end()
    if (isTTY) expect(written()).toMatch(/50% {2}1\.0 kB of 2\.0 kB.*\x1b\[J$/s)
    else expect(written()).toBe('')
  }
})
