import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { getEventListeners } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import { undiciTransport } from '../../../src/node/transport/undici-transport.ts'
import { failureOf } from '../../harness/failure.ts'
import { clientOf, operation, service, sockets } from './service.ts'

const safe = operation('safe', 'GET')
const aborted = { code: 'ABORTED', name: 'AbortError', cause: 'enough' }

describe('an abort by the caller', () => {
  it('an abort by the caller before the call sends nothing', async () => {
    const { origin, exchanges } = await service(() => ({ status: 200 }))
    const { client } = clientOf(origin)
    expect(await failureOf(client.call(safe, {}, { signal: AbortSignal.abort('enough') }))).toMatchObject({ ...aborted, attempts: 0 })
    expect(exchanges).toHaveLength(0)
  })

  it('ends the wait for a credential', async () => {
    const { origin } = await service(() => ({ status: 200 }))
    let asked = false
    const value = () => {
      asked = true
      return new Promise<string>(() => {})
    }
    const { client } = clientOf(origin, { credential: { type: 'apiKey', in: 'header', name: 'authorization', value } })
    const controller = new AbortController()
    const call = failureOf(client.call(safe, {}, { signal: controller.signal }))
    await expect.poll(() => asked).toBe(true)
    controller.abort('enough')
    expect(await call).toMatchObject({ ...aborted, attempts: 0 })
  })

  it('ends the wait in the queue', async () => {
    let asked = 0
    const { origin } = await sockets((socket) => socket.once('data', () => asked++))
    const { client } = clientOf(origin)
    const first = new AbortController()
    const others = Array.from({ length: 8 }, () => failureOf(client.call(safe, {}, { signal: first.signal })))
    await expect.poll(() => asked).toBe(8)
    const controller = new AbortController()
    const call = failureOf(client.call(safe, {}, { signal: controller.signal }))
    await new Promise((resolve) => setTimeout(resolve, 20))
    controller.abort('enough')
    expect(await call).toMatchObject({ ...aborted, attempts: 0 })
    first.abort()
    await Promise.all(others)
  })

  it.each([
    ['for the headers', ''],
    ['for the rest of the body', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"a"'],
  ])('ends the wait %s, and the connection', async (_what, begun) => {
    let [asked, closed] = [false, false]
    const { origin } = await sockets((socket) => {
      socket.on('close', () => {
        closed = true
      })
      socket.once('data', () => {
        asked = true
        socket.write(begun)
      })
    })
    const arrived = heads(origin)
    const { client } = clientOf(origin)
    const controller = new AbortController()
    const call = failureOf(client.call(safe, {}, { signal: controller.signal }))
    await expect.poll(() => [asked, arrived.length]).toEqual([true, begun ? 1 : 0])
    controller.abort('enough')
    expect(await call).toMatchObject({ ...aborted, attempts: 1 })
    await expect.poll(() => closed).toBe(true)
  })

  it('ends a pause at once', async () => {
    const { origin } = await service(() => ({ status: 500 }))
    const { client, clock } = clientOf(origin)
    const controller = new AbortController()
    const call = failureOf(client.call(safe, {}, { signal: controller.signal }))
    await expect.poll(() => clock.pending('wait')).toBe(1)
    controller.abort('enough')
    expect(await call).toMatchObject({ ...aborted, attempts: 1 })
    expect(clock.pending('wait')).toBe(0)
  })

  it('ends a body that is read as it comes, and a reader that stops ends the exchange', async () => {
    let closed = 0
    const { origin } = await sockets((socket) => {
      socket.once('data', () => {
        socket.on('close', () => closed++)
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc')
      })
    })
    const { client } = clientOf(origin)
    const stream = { ...safe, response: 'stream' } as const
    const controller = new AbortController()
    const body = await client.call<ReadableStream<Uint8Array>>(stream, {}, { signal: controller.signal })
    const reader = body.getReader()
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('abc')
    const rest = failureOf(reader.read())
    controller.abort('enough')
    expect(await rest).toMatchObject({ ...aborted, operation: 'things.safe', attempts: 1 })
    const other = await client.call<ReadableStream<Uint8Array>>(stream)
    await other.cancel()
    await expect.poll(() => closed).toBe(2)
  })
})

it.each([
  ['headers that do not come', '', 'TIMEOUT_HEADERS'],
  ['a body that stalls', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc', 'TIMEOUT_BODY'],
])('a streamed response ends in the time of the client for %s', async (_what, begun, code) => {
  const { origin } = await sockets((socket) => socket.once('data', () => socket.write(begun)))
  // This transport would wait without end.
  const transport = undiciTransport({ env: {}, timeouts: { headers: 0, body: 0 } })
  const { client } = clientOf(origin, { transport, timeouts: { headers: 200, body: 200 } })
  const stream = { ...safe, response: 'stream' } as const
  const reading = client.call<ReadableStream<Uint8Array>>(stream, {}, { retry: false }).then((body) => new Response(body).text())
  expect(await failureOf(reading)).toMatchObject({ code, attempts: 1 })
})

it('leaves no listener and no timer behind', async () => {
  const { origin } = await service((_request, index) => ({ status: index % 3 === 0 ? 500 : 200 }))
  const { client, clock } = clientOf(origin, { retries: 1 })
  const { signal } = new AbortController()
  const calls = Array.from({ length: 500 }, () => client.call(safe, {}, { signal }).catch(() => undefined))
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  await clock.run(Promise.all(calls))
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  expect(clock.pending()).toBe(0)
})

it('ends a call at its deadline, whatever it waits for', async () => {
  let asked = false
  const { origin } = await sockets((socket) =>
    socket.once('data', () => {
      asked = true
    }),
  )
  const { client, clock } = clientOf(origin)
  const call = failureOf(client.call(safe, {}, { totalTimeout: 10_000 }))
  await expect.poll(() => asked).toBe(true)
  clock.advance(10_050)
  expect(await call).toMatchObject({ code: 'TIMEOUT_TOTAL', name: 'TimeoutError', attempts: 1 })
})

it('sends nothing after the deadline of the call', async () => {
  const { origin, exchanges } = await service(() => ({ status: 200 }))
  const { client, clock } = clientOf(origin)
  await client.call(safe)
  for (const options of [{ deadline: new Date(clock.now() - 1) }, { totalTimeout: 0 }])
    expect(await failureOf(client.call(operation('unsafe'), { body: {} }, options))).toMatchObject({ code: 'TIMEOUT_TOTAL', attempts: 0 })
  await client.call(safe)
  expect(exchanges).toHaveLength(2)
})

/** Grows with every head of an answer that comes from there. */
function heads(from: string): readonly unknown[] {
  const seen: unknown[] = []
  const see = (message: unknown) => {
    if ((message as { request: { origin: string } }).request.origin === from) seen.push(message)
  }
  subscribe('undici:request:headers', see)
  onTestFinished(() => void unsubscribe('undici:request:headers', see))
  return seen
}
