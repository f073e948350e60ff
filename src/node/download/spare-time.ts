/** Whether the thread that runs us could take in more than comes to it: more requests at a time bring nothing to one that is busy. */
import { performance } from 'node:perf_hooks'
import { sleep } from '../../net/cancellation.ts'
import { systemClock } from '../../net/clock.ts'

/** Shares of its time that a thread may be busy before one more begins, and before one that is there ends. */
const BEGIN = 0.8
const GO_ON = 0.95
/** Milliseconds that are looked at, at least. */
const SPELL = 100

const CLOCK = systemClock({ unref: true })

export class SpareTime {
  #since = performance.eventLoopUtilization()
  #busy = 1

  /** Waits until one more may begin; one after the other, as each changes what there is. False when it was `over` before. */
  async comes(over: Promise<unknown>): Promise<boolean> {
    while (!this.#look() || this.#busy > BEGIN) {
      const isOver = await Promise.race([over.then(() => true), sleep(SPELL, CLOCK).then(() => false)])
      if (isOver) return false
    }
    return true
  }

  /** True when one that is there may go on. */
  lasts(): boolean {
    this.#look()
    return this.#busy <= GO_ON
  }

  /** False when too little time has gone by to tell anything new. */
  #look(): boolean {
    const now = performance.eventLoopUtilization()
    const { idle, active } = performance.eventLoopUtilization(now, this.#since)
    if (idle + active < SPELL * 0.9) return false
    this.#since = now
    this.#busy = active / (idle + active)
    return true
  }
}
