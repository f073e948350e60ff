/** Progress of `fetch` on a terminal. */
import { RateMeter } from '../download/progress.ts'
import type { Io } from '../io.ts'
import { fitted, LiveBlock } from '../live-block.ts'
import { bytesText, timeText } from '../units.ts'

/** What is shown of a body. */
export interface Received {
  readonly bytes: number
  readonly length: number | undefined
}

/** Milliseconds between updates. */
const EVERY = 200

/** Shows on stderr how much of a body is received, from `show` to `end`; nothing without a terminal. */
export class FetchProgress {
  readonly #block: LiveBlock
  readonly #meter = new RateMeter()
  #timer: NodeJS.Timeout | undefined

  constructor(io: Io) {
    this.#block = new LiveBlock(io)
  }

  show(body: Received): void {
    if (!this.#block.isOn) return
    this.end()
    this.#timer = setInterval(() => {
      this.#meter.add(performance.now(), body.bytes)
      this.#block.show([receivedLine(body, this.#meter.rate, this.#block.width)])
    }, EVERY).unref()
  }

  end(): void {
    clearInterval(this.#timer)
    this.#block.clear()
  }
}

/** Formats what is received, at a rate in bytes per second. */
export function receivedLine({ bytes, length }: Received, rate: number, width: number): string {
  const left = length === undefined || rate === 0 ? '' : `${timeText(((length - bytes) * 1000) / rate)} left`
  const percent = length ? `${Math.floor((Math.min(bytes, length) * 100) / length)}%` : ''
  const parts = [
    { text: percent, rank: 1 },
    { text: length === undefined ? bytesText(bytes) : `${bytesText(bytes)} of ${bytesText(length)}`, rank: 0 },
    { text: `${bytesText(rate)}/s`, rank: 3 },
    { text: left, rank: 2 },
  ]
  return fitted(parts, width)
}
