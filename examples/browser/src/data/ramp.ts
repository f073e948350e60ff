/** Colours for numbers. */

/** Dark to light, told apart without red and green (after viridis). */
const STOPS: readonly (readonly [number, number, number])[] = [
  [68, 1, 84],
  [59, 82, 139],
  [33, 145, 140],
  [94, 201, 98],
  [253, 231, 37],
]

export interface Values {
  readonly width: number
  readonly height: number
  /** Row by row. */
  readonly numbers: ArrayLike<number>
}

/** The smallest and the largest of them; what is no number does not count. */
export function rangeOf(numbers: ArrayLike<number>): readonly [least: number, most: number] {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (let at = 0; at < numbers.length; at++) {
    const number = numbers[at] ?? Number.NaN
    if (number < least) least = number
    if (number > most) most = number
  }
  return least <= most ? [least, most] : [0, 0]
}

/** A canvas with a pixel for each number; what is no number stays clear. */
export function coloured({ width, height, numbers }: Values): HTMLCanvasElement {
  const [least, most] = rangeOf(numbers)
  return painted(width, height, (at) => {
    const number = numbers[at] ?? Number.NaN
    return Number.isFinite(number) ? colourAt(most > least ? (number - least) / (most - least) : 0) : undefined
  })
}

/** A canvas whose pixels are red, green and blue from that function; undefined is clear. */
export function painted(
  width: number,
  height: number,
  colour: (at: number) => readonly [number, number, number] | undefined,
): HTMLCanvasElement {
  const canvas = document.createElement('canvas')
  canvas.width = width
  canvas.height = height
  const image = new ImageData(width, height)
  for (let at = 0; at < width * height; at++) {
    const rgb = colour(at)
    if (rgb) image.data.set([...rgb, 255], at * 4)
  }
  canvas.getContext('2d')?.putImageData(image, 0, 0)
  return canvas
}

function colourAt(part: number): readonly [number, number, number] {
  const place = Math.min(Math.max(part, 0), 1) * (STOPS.length - 1)
  const [low, high] = [STOPS[Math.floor(place)], STOPS[Math.ceil(place)]]
  if (!low || !high) return [0, 0, 0]
  const mix = (band: 0 | 1 | 2) => Math.round(low[band] + (high[band] - low[band]) * (place % 1))
  return [mix(0), mix(1), mix(2)]
}
