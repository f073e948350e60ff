import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** The connections below encrypted ones. */
const below = new WeakMap<Socket, Socket>()

/** Remembers which connection carries which encrypted one, so that they can be reset. */
export function rememberCarriers(server: Server): void {
  const byPort = new Map<number | undefined, Socket>()
  server.on('connection', (socket: Socket) => {
    const { remotePort } = socket
    byPort.set(remotePort, socket)
    socket.once('close', () => byPort.delete(remotePort))
  })
  server.on('secureConnection', (socket: Socket) => {
    const carrier = byPort.get(socket.remotePort)
    if (carrier) below.set(socket, carrier)
  })
}

/** Ends a connection with RST, an encrypted one below its encryption. */
export function resetSocket(socket: Socket): void {
  const carrier = below.get(socket) ?? socket
  carrier.resetAndDestroy()
}
