import { readFileSync, statSync } from 'node:fs'

/**
 * All bytes of a regular file of at most `limit` bytes, at once: most files are small, and a stream costs many times what it reads of
 * them. Undefined for what is longer, and for pipes and devices, which are never waited for here.
 *
 * Throws what the system says.
 */
export function smallFile(path: string, limit: number): Uint8Array | undefined {
  const stats = statSync(path)
  return stats.isFile() && stats.size > 0 && stats.size <= limit ? readFileSync(path) : undefined
}
