/** A country that does not exist: heights, and what a satellite would see of it. The same every time. */
import type { Image } from '../../../test/harness/geotiff.ts'

/** Pixels on each side. Odd, so that one of them is the middle. */
export const SIZE = 511

const SEA = 0.42
/** Height, then red, green and blue. */
const COLOURS: readonly (readonly [number, number, number, number])[] = [
  [0, 16, 42, 67],
  [SEA - 0.06, 27, 72, 101],
  [SEA, 62, 121, 140],
  [SEA + 0.012, 205, 190, 150],
  [SEA + 0.06, 112, 134, 78],
  [SEA + 0.16, 62, 94, 58],
  [SEA + 0.26, 116, 106, 82],
  [SEA + 0.36, 160, 148, 132],
  [SEA + 0.46, 240, 240, 238],
]

/** Heights from 0 to 1, row by row. */
export function heights(seed: number, size = SIZE): Float32Array {
  return Float32Array.from({ length: size * size }, (_, at) => {
    const [x, y] = [(at % size) / size, Math.trunc(at / size) / size]
    let sum = 0
    for (let octave = 0; octave < 7; octave++) sum += noise(x * 3 * 2 ** octave, y * 3 * 2 ** octave, seed + octave) / 2 ** (octave + 1)
    return sum
  })
}

/** The country in daylight, the sun in the north-west. */
export function picture(seed: number, size = SIZE): Image {
  const ground = heights(seed, size)
  const pixels = Buffer.alloc(size * size * 3)
  for (let at = 0; at < ground.length; at++) {
    const height = ground[at] ?? 0
    const slope = height - (ground[at - size - 1] ?? height)
    const light = height < SEA ? 1 : Math.min(1.35, Math.max(0.6, 1 + slope * 28))
    const colour = colourOf(height)
    for (const band of [0, 1, 2]) pixels[at * 3 + band] = Math.min(255, Math.round((colour[band] ?? 0) * light))
  }
  return { width: size, height: size, pixels }
}

/** Every `step`-th pixel. */
export function smaller({ width, height, pixels }: Image, step: number): Image {
  const [columns, rows] = [Math.floor(width / step), Math.floor(height / step)]
  const pieces = Array.from({ length: columns * rows }, (_, at) => {
    const from = (Math.trunc(at / columns) * step * width + (at % columns) * step) * 3
    return pixels.subarray(from, from + 3)
  })
  return { width: columns, height: rows, pixels: Buffer.concat(pieces) }
}

function colourOf(height: number): readonly number[] {
  const upper = Math.max(
    1,
    COLOURS.findIndex(([limit]) => limit > height),
  )
  const [low, high] = [COLOURS[upper - 1], COLOURS.at(height >= (COLOURS.at(-1)?.[0] ?? 1) ? -1 : upper)]
  if (!low || !high) return [0, 0, 0]
  const part = high === low ? 0 : Math.min(1, (height - low[0]) / (high[0] - low[0]))
  return [1, 2, 3].map((band) => (low[band] ?? 0) + ((high[band] ?? 0) - (low[band] ?? 0)) * part)
}

/** Value noise: random heights on a grid, smooth between them. */
function noise(x: number, y: number, seed: number): number {
  const [column, row] = [Math.floor(x), Math.floor(y)]
  const [right, down] = [smooth(x - column), smooth(y - row)]
  const upper = mix(random(column, row, seed), random(column + 1, row, seed), right)
  const lower = mix(random(column, row + 1, seed), random(column + 1, row + 1, seed), right)
  return mix(upper, lower, down)
}

const mix = (one: number, other: number, part: number) => one + (other - one) * part
const smooth = (part: number) => part * part * (3 - 2 * part)

/** From 0 to 1, by the place alone. */
function random(x: number, y: number, seed: number): number {
  let hash = Math.imul(x, 374761393) ^ Math.imul(y, 668265263) ^ Math.imul(seed + 1, 2147483647)
  hash = Math.imul(hash ^ (hash >>> 13), 1274126177)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}
