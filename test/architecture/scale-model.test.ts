import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
// @ts-expect-error plain JavaScript, which the benchmark runs without a compiler
import { simulate, tokens } from '../../bench/scale/model.mjs'

const constants = {
  crawl: { cpuSeconds: 0.001 },
  presign: { cpuSeconds: 0.0001 },
  file: { cpuSeconds: 0.001, waitSeconds: 0, diskBytesPerSecond: 5e8 },
  queue: { redisSeconds: 0.0001, producerSeconds: 0.0002 },
  bytesPerCpuSecond: 1e9,
}
const seconds = (settings: object) => simulate({ startup: 0, ...settings }, constants).seconds as number

describe('the model of large runs', () => {
  it('gives the same for the same settings', () => {
    const settings = { task: 'download', documents: 1e6, workers: 16, latency: 0.05, bytes: 1e6, bandwidth: 1e8 }
    expect(simulate(settings, constants)).toEqual(simulate(settings, constants))
  })

  it('is limited by the CPU of one worker, and twice as fast with two', () => {
    const one = simulate({ task: 'authorize', documents: 1e5, workers: 1, startup: 0 }, constants)
    expect(one).toMatchObject({ bottleneck: 'CPU' })
    expect(one.seconds).toBeCloseTo(10, 1)
    expect(seconds({ task: 'authorize', documents: 1e5, workers: 2 })).toBeCloseTo(5, 1)
  })

  it('takes as long as the limit of the origin says, whatever the number of workers', () => {
    for (const workers of [4, 64]) {
      const run = simulate({ task: 'crawl', documents: 1e6, workers, latency: 0.05, perSecond: 50, startup: 0 }, constants)
      expect(run.seconds / 20_000).toBeCloseTo(1, 2)
      expect(run.bottleneck).toBe('limit of the origin')
    }
  })

  it('is limited by latency where connections wait, and by the network where bytes fill it', () => {
    const waiting = simulate({ task: 'crawl', documents: 1e5, workers: 1, latency: 0.5, startup: 0 }, constants)
    expect(waiting.bottleneck).toBe('latency')
    expect(waiting.seconds / ((1e5 * 0.5) / 8)).toBeCloseTo(1, 1)
    const large = simulate(
      { task: 'download', documents: 1000, workers: 1, latency: 0.01, bytes: 1e8, bandwidth: 1e8, startup: 0 },
      constants,
    )
    expect(large.bottleneck).toBe('network')
    expect(large.seconds).toBeGreaterThan(999)
  })

  it('is limited by the process that fills a queue, whatever the number of workers', () => {
    const settings = { task: 'download', documents: 1e6, workers: 64, latency: 0.01, bytes: 1000, startup: 0 }
    expect(simulate(settings, constants).seconds).toBeLessThan(30)
    expect(simulate({ ...settings, queue: true }, constants)).toMatchObject({ bottleneck: 'the process that fills the queue' })
    expect(seconds({ ...settings, queue: true }) / 200).toBeCloseTo(1, 1)
  })

  it('counts the token requests of workers, and the time that they wait for them', () => {
    expect(tokens({ workers: 256, lifetime: 3600, shared: false, perSecond: 1 })).toMatchObject({ coldSeconds: 256, available: 1 })
    const short = { workers: 256, lifetime: 60, perSecond: 1 }
    expect(tokens({ ...short, shared: false }).available).toBeCloseTo(54 / 256)
    expect(tokens({ ...short, shared: true })).toMatchObject({ available: 1, coldSeconds: 1 })
  })

  it('grows in proportion to the documents beyond those that it follows', () => {
    const settings = { task: 'crawl', workers: 16, latency: 0.05 }
    expect(seconds({ ...settings, documents: 1e8 }) / seconds({ ...settings, documents: 1e7 })).toBeCloseTo(10, 1)
  })

  it('agrees with the runs that were measured, within a quarter', () => {
    const measuredHere = JSON.parse(readFileSync(new URL('../../bench/scale/constants.json', import.meta.url), 'utf8'))
    expect(measuredHere.checks.length).toBeGreaterThanOrEqual(4)
    for (const { name, settings, measured } of measuredHere.checks) {
      const { seconds: predicted } = simulate({ ...settings, workers: 1, startup: 0 }, measuredHere)
      expect(Math.abs(predicted / measured - 1), name).toBeLessThan(0.25)
    }
  })
})
