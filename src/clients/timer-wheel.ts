import type { ClientClock } from './clock.ts'

/** Something that ends at a time. */
export interface Alarm {
  expire(): void
}

/** How exact the ends are, in milliseconds: all within one step share a place. */
const STEP = 50

/**
 * The ends of many calls behind one timer: setting and taking back one is an entry in a set. The timer is left alone when an end is
 * taken back; it fires, finds nothing and is not set again.
 */
export class TimerWheel {
  readonly #clock: ClientClock
  readonly #places = new Map<number, Set<Alarm>>()
  #next = Number.POSITIVE_INFINITY
  #stop: (() => void) | undefined

  constructor(clock: ClientClock) {
    this.#clock = clock
  }

  /** How many alarms are set. */
  get size(): number {
    let size = 0
    for (const place of this.#places.values()) size += place.size
    return size
  }

  /** Sets an alarm for that time, never early. The result is its place, for `delete`. */
  add(at: number, alarm: Alarm): number {
    const place = Math.ceil(at / STEP)
    const alarms = this.#places.get(place)
    if (alarms) alarms.add(alarm)
    else this.#places.set(place, new Set([alarm]))
    if (place < this.#next) this.#arm(place)
    return place
  }

  delete(place: number, alarm: Alarm): void {
    const alarms = this.#places.get(place)
    if (!alarms?.delete(alarm) || alarms.size > 0) return
    this.#places.delete(place)
  }

  #arm(place: number): void {
    this.#stop?.()
    this.#next = place
    this.#stop = this.#clock.setTimer(Math.max(0, place * STEP - this.#clock.now()), () => this.#fire(), 'guard')
  }

  #fire(): void {
    this.#stop = undefined
    this.#next = Number.POSITIVE_INFINITY
    const now = this.#clock.now()
    let next = Number.POSITIVE_INFINITY
    for (const [place, alarms] of this.#places) {
      if (place * STEP > now) {
        next = Math.min(next, place)
        continue
      }
      this.#places.delete(place)
      for (const alarm of alarms) alarm.expire()
    }
    if (next < this.#next) this.#arm(next)
  }
}
