import type { Fault, FaultOf } from './fault.ts'
import { seededNumber } from './seeded-number.ts'

/** A share of requests and what happens to them. */
export type Chance = readonly [share: number, make: (random: () => number) => Fault]

/** The same seed gives the nth request for a path the same fault, in whatever order the paths are asked for. */
export function seededFaults(seed: number, chances: readonly Chance[]): FaultOf {
  return ({ path, nth }) => {
    let draws = 0
    const random = () => seededNumber(seed, path, nth, draws++)
    let left = random()
    for (const [share, make] of chances) {
      if (left < share) return make(random)
      left -= share
    }
    return undefined
  }
}

/** The connection is reset somewhere in the answer. */
export const anyReset: Chance[1] = (random) => ({ do: 'reset', at: random() < 0.1 ? 'head' : random() })

/** One of everything that a correct client gets over, most of it in the middle of an answer. */
export const anyFault: Chance[1] = (random) => {
  const at = random()
  const faults: readonly Fault[] = [
    { do: 'delay', ms: 40 * at },
    { do: 'drip', bytes: 8192, everyMs: 1 },
    { do: 'cut', at, framing: 'length' },
    { do: 'cut', at, framing: 'chunk' },
    { do: 'cut', at, framing: 'gzip' },
    { do: 'reset', at: 'head' },
    { do: 'reset', at },
    { do: 'ignore-range' },
    { do: 'hang-up' },
    { do: 'answer', status: 503, headers: { 'retry-after': '0' } },
    { do: 'answer', status: 429, headers: { 'retry-after': '0' } },
    { do: 'answer', status: 500 },
    { do: 'answer', status: 502, headers: { 'content-type': 'text/html' }, body: '<html>bad gateway</html>' },
  ]
  return faults[Math.floor(random() * faults.length)] ?? { do: 'reset', at }
}
