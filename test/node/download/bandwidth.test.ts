import { afterAll, describe, expect, it } from 'vitest'
import { filesWithin } from '../../../src/node/download/download-context.ts'
import { temporaryFolder } from '../../cli/folder.ts'
import { FakeClock } from '../../harness/fake-clock.ts'
import { noise, startFileServer } from '../../servers/file-server.ts'
import { itemOf, type Result, run } from './fixture.ts'

const server = await startFileServer(() => ({ bytes: noise(100_000) }))
afterAll(() => server.close())
const assets = Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`a${index}`, { href: `${index}.bin` }]))

/** The most files that had begun and had not ended. */
function atATime({ events }: Result): number {
  let [running, most] = [0, 0]
  for (const { kind } of events) {
    running += kind === 'started' ? 1 : kind === 'written' ? -1 : 0
    most = Math.max(most, running)
  }
  return most
}

describe('a limit of bytes per second', () => {
  it('a limit of bytes per second holds what comes to it', async () => {
    const clock = new FakeClock({ now: 0, waits: 'skipped' })
    const result = await run([itemOf(server, assets)], { folder: await temporaryFolder(), server, bytesPerSecond: 100_000, clock })
    expect(result.summary).toMatchObject({ written: 6, received: 600_000, retries: 0 })
    expect(clock.now()).toBeCloseTo(6000, 0)
  })

  it('limits connections so that each has enough bandwidth, unless their number is configured', async () => {
    const limited = { server, bytesPerSecond: 400_000 }
    expect(atATime(await run([itemOf(server, assets)], { ...limited, folder: await temporaryFolder() }))).toBe(3)
    expect(atATime(await run([itemOf(server, assets)], { ...limited, folder: await temporaryFolder(), concurrency: 6 }))).toBe(6)
  })

  it.each([
    [undefined, 16],
    [1, 1],
    [131_072, 1],
    [500_000, 3],
    [10_000_000, 16],
  ])('a limit of bytes per second of %j is for %j files', (bytesPerSecond, files) => {
    expect(filesWithin(bytesPerSecond, 16)).toBe(files)
  })
})
