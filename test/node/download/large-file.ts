import { noise } from '../../servers/file-server.ts'

const MIB = 2 ** 20

/** A file of so many MiB, every one of which is another one. */
export function largeFile(size: number, seed: string): Buffer {
  const whole = Buffer.alloc(size * MIB, noise(MIB, seed))
  for (let at = 0; at < whole.length; at += MIB) whole.writeUInt32BE(at, at)
  return whole
}
