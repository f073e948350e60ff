import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Keeps at most `limit` connections of a server: a further one ends the oldest. Nobody can lock a browser out by holding
 * connections open.
 */
export function newestConnections(server: Server, limit = 64): void {
  const open = new Set<Socket>()
  server.on('connection', (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    if (open.size <= limit) return
    const [oldest] = open
    oldest?.destroy()
  })
}
