/** A service on loopback and a client of it whose time is under control. */
import { undiciTransport } from '../../../src/node/transport/undici-transport.ts'
import { ApiClient, type ApiClientOptions } from '../../../src/services/client/api-client.ts'
import { ServiceLimits } from '../../../src/services/client/pacer.ts'
import type { Method, Operation } from '../../../src/services/client/request.ts'
import type { ReplayClass } from '../../../src/services/client/retries.ts'
import { FakeClock } from '../../harness/fake-clock.ts'
import { type Answer, type Inquiry, jsonAnswer, startAnswering } from '../../servers/answering-server.ts'
import { startSocketServer } from '../../servers/harness.ts'
import { afterEveryTest } from '../../setup/hooks.ts'

export const TOKEN = 'tok+en/with=odd"chars-8c1f2e'
/** A key may hold what a form, JSON and an address write differently. */
export const KEY = { type: 'apiKey', in: 'header', name: 'authorization', value: `Token ${TOKEN}` } as const

const open: { close(): Promise<void> }[] = []
afterEveryTest(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})

/** Refuses every request without the credential, as real services do; otherwise answers as the test says. */
export async function service(answer: (request: Inquiry, index: number) => Answer | Promise<Answer>) {
  let index = 0
  const server = await startAnswering((request) => {
    if (request.headers.authorization !== `Token ${TOKEN}`) return jsonAnswer(401, { message: 'no valid token' })
    return answer(request, index++)
  })
  open.push(server)
  return server
}

export async function sockets(onSocket: Parameters<typeof startSocketServer>[0]) {
  const server = await startSocketServer(onSocket)
  open.push(server)
  return server
}

export const transport = undiciTransport({ env: {} })

export function clientOf(origin: string, options: Partial<ApiClientOptions> & { readonly clock?: FakeClock } = {}) {
  const { clock = new FakeClock(), ...rest } = options
  const limits = new ServiceLimits({ clock, random: clock.random })
  const client = new ApiClient({ baseUrl: `${origin}/v1`, credential: KEY, allowInsecure: 'loopback', transport, limits, ...rest })
  return { client, clock, limits }
}

export function operation(replay: ReplayClass, method: Method = 'POST', more: Partial<Operation> = {}): Operation {
  return { name: `things.${replay}`, method, path: '/things', replay, ...more }
}
