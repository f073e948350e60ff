/** What the system keeps of a connection: bytes that one side has written and the other side has not read. */
import { readFile } from 'node:fs/promises'

/** Returns the bytes on their way from a port of 127.0.0.1 to its clients; 0 where the system does not say (proc(5), `/proc/net/tcp`). */
export async function bytesOnTheirWay(port: number): Promise<number> {
  const table = await readFile('/proc/net/tcp', 'utf8').catch(() => '')
  let bytes = 0
  for (const line of table.split('\n').slice(1)) {
    const [, local = '', remote = '', , queues = ''] = line.trim().split(/\s+/)
    const [unsent = 0, unread = 0] = queues.split(':').map((hex) => Number.parseInt(hex, 16))
    if (portOf(local) === port) bytes += unsent
    if (portOf(remote) === port) bytes += unread
  }
  return bytes
}

function portOf(address: string): number {
  return Number.parseInt(address.split(':')[1] ?? '', 16)
}
