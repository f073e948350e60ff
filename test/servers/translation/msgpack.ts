/** The part of MessagePack that the messages of a voice session need: nil, booleans, numbers, text, bytes, arrays, maps. */

/** Bytes of a value; objects become maps with text for keys. */
export function packMessage(value: unknown): Buffer {
  if (value === null || value === undefined) return Buffer.from([0xc0])
  if (typeof value === 'boolean') return Buffer.from([value ? 0xc3 : 0xc2])
  if (typeof value === 'number') return packNumber(value)
  if (typeof value === 'string') return withLength(Buffer.from(value), [0xa0, 32], [0xd9, 0xda, 0xdb])
  if (value instanceof Uint8Array) return withLength(Buffer.from(value), undefined, [0xc4, 0xc5, 0xc6])
  const items = Array.isArray(value)
    ? value.map(packMessage)
    : Object.entries(value).flatMap(([key, item]) => [packMessage(key), packMessage(item)])
  return Array.isArray(value) ? packItems(items, value.length, 0x90, 0xdc) : packItems(items, items.length / 2, 0x80, 0xde)
}

/** The value of bytes. Throws a `SyntaxError` for what is cut, has more behind it, or has another type. */
export function unpackMessage(bytes: Buffer): unknown {
  const reader = { bytes, at: 0 }
  const value = readValue(reader)
  if (reader.at !== bytes.length) throw new SyntaxError('bytes behind the value')
  return value
}

interface Reader {
  readonly bytes: Buffer
  at: number
}

function packNumber(value: number): Buffer {
  if (Number.isInteger(value) && value >= 0 && value < 128) return Buffer.from([value])
  const bytes = Buffer.alloc(9)
  if (Number.isInteger(value) && value >= 0 && value <= 0xffffffff) {
    bytes[0] = 0xce
    bytes.writeUInt32BE(value, 1)
    return bytes.subarray(0, 5)
  }
  bytes[0] = 0xcb
  bytes.writeDoubleBE(value, 1)
  return bytes
}

function withLength(content: Buffer, fixed: readonly [mark: number, below: number] | undefined, marks: readonly number[]): Buffer {
  if (fixed && content.length < fixed[1]) return Buffer.concat([Buffer.from([fixed[0] | content.length]), content])
  const width = content.length < 256 ? 1 : content.length < 65_536 ? 2 : 4
  const head = Buffer.alloc(1 + width)
  head[0] = marks[width === 4 ? 2 : width - 1] ?? 0
  head.writeUIntBE(content.length, 1, width)
  return Buffer.concat([head, content])
}

function packItems(items: readonly Buffer[], count: number, short: number, long: number): Buffer {
  const head = count < 16 ? Buffer.from([short | count]) : Buffer.from([long, count >> 8, count & 0xff])
  return Buffer.concat([head, ...items])
}

function readValue(reader: Reader): unknown {
  const mark = readNumber(reader, 1)
  if (mark < 0x80) return mark
  if (mark < 0x90) return readMap(reader, mark & 0x0f)
  if (mark < 0xa0) return readArray(reader, mark & 0x0f)
  if (mark < 0xc0) return readText(reader, mark & 0x1f)
  if (mark >= 0xe0) return mark - 256
  return readMarked(reader, mark)
}

function readMarked(reader: Reader, mark: number): unknown {
  const width = (first: number) => 2 ** (mark - first)
  if (mark === 0xc0) return null
  if (mark === 0xc2 || mark === 0xc3) return mark === 0xc3
  if (mark >= 0xc4 && mark <= 0xc6) return Buffer.from(take(reader, readNumber(reader, width(0xc4))))
  if (mark === 0xca) return take(reader, 4).readFloatBE()
  if (mark === 0xcb) return take(reader, 8).readDoubleBE()
  if (mark >= 0xcc && mark <= 0xce) return readNumber(reader, width(0xcc))
  if (mark === 0xcf) return Number(take(reader, 8).readBigUInt64BE())
  if (mark >= 0xd0 && mark <= 0xd2) return take(reader, width(0xd0)).readIntBE(0, width(0xd0))
  if (mark === 0xd3) return Number(take(reader, 8).readBigInt64BE())
  if (mark >= 0xd9 && mark <= 0xdb) return readText(reader, readNumber(reader, width(0xd9)))
  if (mark === 0xdc || mark === 0xdd) return readArray(reader, readNumber(reader, mark === 0xdc ? 2 : 4))
  if (mark === 0xde || mark === 0xdf) return readMap(reader, readNumber(reader, mark === 0xde ? 2 : 4))
  throw new SyntaxError(`a value of the kind ${mark.toString(16)}`)
}

function readText(reader: Reader, length: number): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(take(reader, length))
}

function readArray(reader: Reader, count: number): unknown[] {
  return Array.from({ length: count }, () => readValue(reader))
}

function readMap(reader: Reader, count: number): Record<string, unknown> {
  const entries = Array.from({ length: count }, () => [readValue(reader), readValue(reader)] as const)
  if (entries.some(([key]) => typeof key !== 'string')) throw new SyntaxError('a key that is no text')
  if (new Set(entries.map(([key]) => key)).size !== count) throw new SyntaxError('a key twice')
  return Object.fromEntries(entries)
}

function readNumber(reader: Reader, width: number): number {
  return take(reader, width).readUIntBE(0, width)
}

function take(reader: Reader, length: number): Buffer {
  if (reader.at + length > reader.bytes.length) throw new SyntaxError('a value that is cut')
  reader.at += length
  return reader.bytes.subarray(reader.at - length, reader.at)
}
