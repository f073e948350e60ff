/**
 * A message as MD5 and the SHA-2 family hash it: a one bit, zeros, and the length in bits in the last eight bytes of a block.
 *
 * @param block bytes of a block, 64 or 128
 */
export function padded(message: Uint8Array, block: number, littleEndian: boolean): DataView {
  const minimum = message.length + 1 + block / 8
  const bytes = new Uint8Array(Math.ceil(minimum / block) * block)
  bytes.set(message)
  bytes[message.length] = 0x80
  const view = new DataView(bytes.buffer)
  view.setBigUint64(bytes.length - 8, BigInt(message.length) * 8n, littleEndian)
  return view
}
