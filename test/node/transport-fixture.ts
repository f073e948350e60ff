/** A transport under test and the servers it talks to; they are closed after each test. */
import type { HttpRequest, Send, SendOptions } from '../../src/http/message.ts'
import { undiciTransport } from '../../src/node/transport/undici-transport.ts'
import { type ServerOptions, startServer, startSocketServer } from '../servers/harness.ts'
import { afterEveryTest } from '../setup/hooks.ts'

const open: { close(): Promise<void> }[] = []
afterEveryTest(async () => {
  await Promise.all(open.splice(0).map((started) => started.close()))
})

export const get = (url: string, headers: Record<string, string> = {}): HttpRequest => ({ method: 'GET', url, headers })
export const send: Send = undiciTransport({ env: {} })
export const granted: SendOptions = { allowPrivateNetwork: true }
export const MIB = 2 ** 20

export async function server(listener?: Parameters<typeof startServer>[0], options?: ServerOptions) {
  const started = await startServer(listener, options)
  open.push(started)
  return started
}

export async function sockets(onSocket: Parameters<typeof startSocketServer>[0]) {
  const started = await startSocketServer(onSocket)
  open.push(started)
  return started
}
