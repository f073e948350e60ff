import { describe, expect, it } from 'vitest'
import { undiciTransport } from '../../../src/node/transport/undici-transport.ts'
import type { ReplayClass } from '../../../src/services/client/retries.ts'
import { failureOf } from '../../harness/failure.ts'
import { clientOf, operation, service, sockets } from './service.ts'

const CLASSES = ['safe', 'idem', 'unsafe', 'once'] as const
const ALWAYS = { safe: 3, idem: 3, unsafe: 3, once: 1 }
const NEVER = { safe: 1, idem: 1, unsafe: 1, once: 1 }
const REPLAYABLE = { safe: 3, idem: 3, unsafe: 1, once: 1 }

/** Requests that the server sees with two retries allowed, by class. */
const STATUSES: readonly (readonly [status: number, headers: Record<string, string>, requests: Record<ReplayClass, number>])[] = [
  [302, { location: '/elsewhere' }, NEVER],
  [304, {}, NEVER],
  [400, {}, NEVER],
  [401, {}, NEVER],
  [403, {}, NEVER],
  [404, {}, NEVER],
  [408, {}, REPLAYABLE],
  [408, { connection: 'close' }, ALWAYS],
  [409, {}, NEVER],
  [413, {}, NEVER],
  [425, {}, REPLAYABLE],
  [429, {}, ALWAYS],
  [456, {}, NEVER],
  [500, {}, REPLAYABLE],
  [501, {}, NEVER],
  [502, {}, REPLAYABLE],
  [503, {}, REPLAYABLE],
  [503, { 'retry-after': '1' }, ALWAYS],
  [504, {}, REPLAYABLE],
  [505, {}, NEVER],
  [529, {}, ALWAYS],
]

describe.each(CLASSES)('an operation that is %s', (replay) => {
  it.each(STATUSES)('is repeated, or not, after the status %i with %o', async (status, headers, requests) => {
    const { origin, exchanges } = await service(() => ({ status, headers }))
    const { client, clock } = clientOf(origin, { retries: 2 })
    const error = await clock.run(failureOf(client.call(operation(replay))))
    expect(exchanges).toHaveLength(requests[replay])
    expect(error).toMatchObject({ code: `HTTP_${status}`, status, attempts: requests[replay], operation: `things.${replay}` })
    expect(clock.pending('wait')).toBe(0)
  })

  it('is repeated, or not, after a successful response that is not JSON', async () => {
    const { origin, exchanges } = await service(() => ({ status: 200, body: '{"a":' }))
    const { client, clock } = clientOf(origin, { retries: 2 })
    const error = await clock.run(failureOf(client.call(operation(replay))))
    expect(error).toMatchObject({ code: 'RESPONSE_INVALID', snippet: '{"a":', attempts: REPLAYABLE[replay] })
    expect(exchanges).toHaveLength(REPLAYABLE[replay])
  })

  it('is repeated, or not, after a truncated response', async () => {
    let requests = 0
    const { origin } = await sockets((socket) => {
      socket.once('data', () => {
        requests++
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"a":1')
      })
    })
    const { client, clock } = clientOf(origin, { retries: 2 })
    const error = await clock.run(failureOf(client.call(operation(replay))))
    expect(error).toMatchObject({ code: 'RESPONSE_TRUNCATED', sent: true })
    expect(requests).toBe(REPLAYABLE[replay])
  })

  it('is repeated, or not, after a connection that is reset before a response', async () => {
    let requests = 0
    const { origin } = await sockets((socket) => {
      socket.once('data', () => {
        requests++
        socket.resetAndDestroy()
      })
    })
    const { client, clock } = clientOf(origin, { retries: 2 })
    const error = await clock.run(failureOf(client.call(operation(replay))))
    expect(error).toMatchObject({ code: 'NETWORK_RESET', sent: true })
    expect(requests).toBe(replay === 'unsafe' ? 1 : 3)
  })

  it('is repeated after a refused connection', async () => {
    const { origin, close } = await sockets(() => {})
    await close()
    const { client, clock } = clientOf(origin, { retries: 2 })
    const error = await clock.run(failureOf(client.call(operation(replay))))
    expect(error).toMatchObject({ code: 'NETWORK_REFUSED', sent: false, attempts: 3 })
  })

  it('is repeated once after a host name that was not found', async () => {
    const lookup = async () => {
      throw Object.assign(new Error('nothing'), { code: 'ENOTFOUND' })
    }
    const { client, clock } = clientOf('https://nowhere.example', { retries: 4, transport: undiciTransport({ env: {}, lookup }) })
    const error = await clock.run(failureOf(client.call(operation(replay))))
    expect(error).toMatchObject({ code: 'NETWORK_DNS', sent: false, attempts: 2 })
  })

  it('is repeated, or not, after an attempt without a response', async () => {
    let requests = 0
    const { origin } = await sockets((socket) => {
      socket.on('data', () => requests++)
    })
    const { client, clock } = clientOf(origin, { retries: 1, timeouts: { attempt: 5000, total: false } })
    const call = failureOf(client.call(operation(replay)))
    const expected = replay === 'unsafe' ? 1 : 2
    for (let attempt = 1; attempt <= expected; attempt++) {
      await expect.poll(() => requests).toBe(attempt)
      clock.advance(5050)
      await new Promise((resolve) => setImmediate(resolve))
      clock.advance(1000)
    }
    expect(await call).toMatchObject({ code: 'TIMEOUT_ATTEMPT', name: 'TimeoutError', sent: true, attempts: expected })
  })
})

it('retries an idle connection that its server closed at once on a fresh one, and only once', async () => {
  let connections = 0
  const { origin } = await sockets((socket) => {
    const mine = ++connections
    let requests = 0
    socket.on('data', () => {
      if (++requests === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-type: application/json\r\n\r\n{}')
      else if (mine === 1) socket.end()
    })
  })
  const { client, clock } = clientOf(origin, { credential: undefined })
  await client.call(operation('idem'))
  // The connection is free one turn after its answer.
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(await client.send(operation('idem'))).toMatchObject({ attempts: 2, data: {} })
  expect(connections).toBe(2)
  expect(clock.waits).toEqual([])
})

it('reports that a deletion is done when its repetition finds nothing', async () => {
  const { origin } = await service((_request, index) => ({ status: index === 0 ? 500 : 404 }))
  const { client, clock } = clientOf(origin)
  const answer = await clock.run(client.send(operation('idem', 'DELETE')))
  expect(answer).toMatchObject({ alreadyGone: true, attempts: 2, data: undefined })
  expect(await clock.run(failureOf(client.send(operation('idem', 'DELETE'))))).toMatchObject({ code: 'HTTP_404', attempts: 1 })
})

it('lets the caller decide: no retry, other statuses, replay, a function', async () => {
  const { origin, exchanges } = await service(() => ({ status: 500 }))
  const { client, clock } = clientOf(origin, { retries: 1 })
  const counts: number[] = []
  const unsafe = operation('unsafe')
  const billed = { ...operation('idem'), billed: true }
  for (const [what, options] of [
    [operation('safe'), { retry: false }],
    [unsafe, { replay: 'idem' }],
    [unsafe, { retry: { statuses: [500], retries: 2 } }],
    [unsafe, { retry: { on: ({ attempt }: { attempt: number }) => attempt < 2 } }],
    [operation('safe'), { retry: { on: () => false } }],
    [billed, { retry: { billed: false } }],
    [{ ...operation('safe'), final: [500] }, {}],
  ] as const) {
    const before = exchanges.length
    await clock.run(failureOf(client.call(what, {}, options)))
    counts.push(exchanges.length - before)
  }
  expect(counts).toEqual([1, 2, 3, 2, 1, 1, 1])
})
