import { expect, it, onTestFinished } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import { undiciTransport } from '../../src/node/transport/undici-transport.ts'
import { unchecked } from '../harness/unchecked.ts'
import { startServer } from '../servers/harness.ts'

/** What Node warns of while that runs. */
async function warningsOf(run: () => Promise<unknown>): Promise<readonly string[]> {
  const names: string[] = []
  const listen = ({ name }: Error) => void names.push(name)
  process.on('warning', listen)
  onTestFinished(() => void process.off('warning', listen))
  await run()
  // They come a turn later.
  await new Promise((resolve) => setImmediate(resolve))
  return names
}

it('many requests of one signal, and their wait for one token, are no leak to Node', async () => {
  const MANY = 40
  let answer = () => {}
  const everybodyWaits = new Promise<void>((resolve) => {
    answer = resolve
  })
  const issuer = await startServer((_request, response) =>
    response.setHeader('content-type', 'application/json').end('{"access_token":"right","token_type":"Bearer","expires_in":60}'),
  )
  const depot = await startServer(async ({ headers }, response) => {
    if (headers.authorization !== 'Bearer right') return response.writeHead(401).end()
    if (depot.requests.length === MANY) answer()
    await everybodyWaits
    return response.end('file')
  })
  onTestFinished(() => Promise.all([issuer.close(), depot.close()]).then(() => undefined))
  const entry = { id: 'a', type: 'oauth2', flow: 'clientCredentials', tokenUrl: `${issuer.origin}/token`, clientId: 'a', clientSecret: 'b' }
  const auth = createAuth({ credentials: unchecked([{ ...entry, sendTo: [`${depot.origin}/`] }]), typed: [depot.origin, issuer.origin] })
  const { signal } = new AbortController()
  const fetched = async () => (await auth.fetch(`${depot.origin}/file`, { signal })).text()
  const texts: string[] = []
  const warnings = await warningsOf(async () => {
    texts.push(...(await Promise.all(Array.from({ length: MANY }, fetched))))
  })
  expect([new Set(texts), issuer.requests.length, warnings]).toEqual([new Set(['file']), 1, []])
})

it('nor are requests that need no credential', async () => {
  const server = await startServer((_request, response) => response.end('file'))
  onTestFinished(() => server.close())
  const send = undiciTransport()
  const { signal } = new AbortController()
  const request = { method: 'GET', url: `${server.origin}/file`, headers: {} }
  const sent = () => send(request, { signal, allowPrivateNetwork: true }).then((response) => response.bytes(100))
  expect(await warningsOf(() => Promise.all(Array.from({ length: 40 }, sent)))).toEqual([])
  expect(server.requests).toHaveLength(40)
})

it('an invalid signal is refused before anything is sent, and leaves no unhandled rejection', async () => {
  const server = await startServer((_request, response) => response.end('file'))
  onTestFinished(() => server.close())
  const credential = { type: 'http', scheme: 'bearer', token: 'a', sendTo: `${server.origin}/` } as const
  const unhandled: unknown[] = []
  const listen = (error: unknown) => void unhandled.push(error)
  process.on('unhandledRejection', listen)
  onTestFinished(() => void process.off('unhandledRejection', listen))
  const refusals: string[] = []
  for (const credentials of [[credential], []]) {
    const auth = createAuth({ credentials, typed: [server.origin] })
    for (const signal of [new AbortController(), 'soon'] as unknown[])
      await auth
        .fetch(`${server.origin}/file`, { signal: signal as AbortSignal })
        .catch((error) => refusals.push(`${error.name}: ${error.message}`))
  }
  await new Promise((resolve) => setTimeout(resolve, 20))
  const controller = 'TypeError: signal must be an AbortSignal: pass controller.signal, not the controller'
  const text = 'TypeError: signal must be an AbortSignal'
  expect([refusals, unhandled, server.requests]).toEqual([[controller, text, controller, text], [], []])
})
