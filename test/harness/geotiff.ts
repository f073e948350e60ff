/** A GeoTIFF as simple as they come: bytes, one strip, no compression; what describes it stands at the end. */

export interface Image {
  readonly width: number
  readonly height: number
  /** Row by row; a byte for each pixel, or three of red, green and blue. */
  readonly pixels: Buffer
}

/** Degrees of WGS 84: the upper left corner, and the size of a pixel. */
export interface Placement {
  readonly west: number
  readonly north: number
  readonly pixel: number
}

const SOMEWHERE: Placement = { west: 10, north: 50, pixel: 0.01 }

/** An image in which neighbours differ. */
export function pattern(width: number, height: number): Image {
  return {
    width,
    height,
    pixels: Buffer.from(Array.from({ length: width * height }, (_, at) => (at * 7 + Math.trunc(at / width) * 13) % 251)),
  }
}

const SHORT = 3
const LONG = 4
const DOUBLE = 12
const SIZES: Readonly<Record<number, number>> = { [SHORT]: 2, [LONG]: 4, [DOUBLE]: 8 }
const HEADER = 8

type Field = readonly [tag: number, type: number, values: readonly number[]]

/** The file (TIFF 6.0 section 2, OGC GeoTIFF 1.1). */
export function geotiff({ width, height, pixels }: Image, { west, north, pixel }: Placement = SOMEWHERE): Buffer {
  const samples = pixels.length / (width * height)
  const fields: readonly Field[] = [
    [256, SHORT, [width]],
    [257, SHORT, [height]],
    [258, SHORT, Array.from({ length: samples }, () => 8)],
    [259, SHORT, [1]],
    [262, SHORT, [samples === 3 ? 2 : 1]],
    [273, LONG, [HEADER]],
    [277, SHORT, [samples]],
    [278, SHORT, [height]],
    [279, LONG, [pixels.length]],
    [33550, DOUBLE, [pixel, pixel, 0]],
    [33922, DOUBLE, [0, 0, 0, west, north, 0]],
    [34735, SHORT, [1, 1, 0, 2, 1024, 0, 1, 2, 2048, 0, 1, 4326]],
  ]
  const header = Buffer.from([0x49, 0x49, 42, 0, 0, 0, 0, 0])
  header.writeUInt32LE(HEADER + pixels.length, 4)
  return Buffer.concat([header, pixels, directory(fields, HEADER + pixels.length)])
}

/** The fields in twelve bytes each, and behind them the values that do not fit there. */
function directory(fields: readonly Field[], start: number): Buffer {
  const entries = Buffer.alloc(2 + fields.length * 12 + 4)
  const values: Buffer[] = []
  let end = start + entries.length
  entries.writeUInt16LE(fields.length)
  for (const [index, [tag, type, numbers]] of fields.entries()) {
    const at = 2 + index * 12
    const bytes = bytesOf(type, numbers)
    entries.writeUInt16LE(tag, at)
    entries.writeUInt16LE(type, at + 2)
    entries.writeUInt32LE(numbers.length, at + 4)
    if (bytes.length <= 4) bytes.copy(entries, at + 8)
    else {
      entries.writeUInt32LE(end, at + 8)
      values.push(bytes)
      end += bytes.length
    }
  }
  return Buffer.concat([entries, ...values])
}

function bytesOf(type: number, numbers: readonly number[]): Buffer {
  const size = SIZES[type] ?? 1
  const bytes = Buffer.alloc(numbers.length * size)
  for (const [index, number] of numbers.entries()) {
    if (type === DOUBLE) bytes.writeDoubleLE(number, index * size)
    else bytes.writeUIntLE(number, index * size, size)
  }
  return bytes
}
