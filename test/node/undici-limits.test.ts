import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { AbortedError } from '../../src/errors.ts'
import type { Send } from '../../src/http/message.ts'
import { undiciTransport } from '../../src/node/transport/undici-transport.ts'
import { failureOf } from '../harness/failure.ts'
import { get, granted, MIB, send, server, sockets } from './transport-fixture.ts'

describe('limits', () => {
  it('limits count bytes exactly', async () => {
    const good = await server((_request, response) => response.end(Buffer.alloc(1000)))
    expect(await (await send(get(`${good.origin}/`), granted)).bytes(1000)).toHaveLength(1000)
    expect(await failureOf((await send(get(`${good.origin}/`), granted)).bytes(999))).toMatchObject({ code: 'RESPONSE_TOO_LARGE' })
  })

  it('limits stop an endless body and close its connection', async () => {
    let closed = false
    const good = await server((_request, response) => {
      const timer = setInterval(() => response.write(Buffer.alloc(65_536)), 1)
      response.on('close', () => {
        closed = true
        clearInterval(timer)
      })
    })
    expect(await failureOf((await send(get(`${good.origin}/`), granted)).bytes(MIB))).toMatchObject({ code: 'RESPONSE_TOO_LARGE' })
    await expect.poll(() => closed).toBe(true)
  })

  it('limits keep headers to 16 KiB', async () => {
    const good = await server((_request, response) =>
      response.writeHead(401, { 'www-authenticate': `Basic realm="${'x'.repeat(65_000)}"` }).end(),
    )
    expect(await failureOf(send(get(`${good.origin}/`), granted))).toMatchObject({ code: 'RESPONSE_TOO_LARGE' })
  })

  it('limits do not read an endless body that is thrown away', async () => {
    let written: number | undefined
    const good = await server((_request, response) => {
      const { socket } = response
      socket?.on('close', () => {
        written = socket.bytesWritten - socket.writableLength
      })
      const pour = () => {
        while (!response.destroyed && response.write(Buffer.alloc(MIB)));
      }
      response.writeHead(200).on('drain', pour)
      pour()
    })
    await (await send(get(`${good.origin}/`), granted)).discard()
    await expect.poll(() => written).toBeLessThan(64 * MIB)
  })

  it('limits do not wait for a body that drips while it is thrown away', async () => {
    const good = await server((_request, reply) => {
      const timer = setInterval(() => reply.write('x'), 20)
      reply.on('close', () => clearInterval(timer))
    })
    const response = await send(get(`${good.origin}/`), granted)
    expect(await response.discard()).toBeUndefined()
  })
})

describe('an abort', () => {
  const silent = () => sockets(() => {})

  it('an abort before the request sends nothing', async () => {
    const good = await server()
    const error = await failureOf(send(get(`${good.origin}/`), { ...granted, signal: AbortSignal.abort('why') }))
    expect(error).toBeInstanceOf(AbortedError)
    expect(error).toMatchObject({ code: 'ABORTED', cause: 'why' })
    expect(good.connections).toBe(0)
  })

  it('ends the wait for an answer', async () => {
    const { origin } = await silent()
    const controller = new AbortController()
    const pending = failureOf(send(get(origin), { ...granted, signal: controller.signal }))
    setTimeout(() => controller.abort(new Error('enough')), 30)
    expect(await pending).toMatchObject({ name: 'AbortError', cause: expect.objectContaining({ message: 'enough' }) })
  })

  it('ends the wait for a connection', async () => {
    const controller = new AbortController()
    const never = undiciTransport({ env: {}, timeouts: { connect: 2000 }, lookup: () => new Promise(() => {}) })
    const pending = failureOf(never(get('http://data.example/'), { signal: controller.signal }))
    setTimeout(() => controller.abort(), 30)
    expect(await pending).toMatchObject({ code: 'ABORTED' })
  })

  it('ends a body, in a reader and in a Response', async () => {
    const good = await server((_request, response) => {
      response.write('begin')
    })
    for (const read of [(r: Awaited<ReturnType<Send>>) => r.bytes(MIB), (r: Awaited<ReturnType<Send>>) => r.toResponse().text()]) {
      const controller = new AbortController()
      const response = await send(get(`${good.origin}/`), { ...granted, signal: controller.signal })
      setTimeout(() => controller.abort(), 30)
      expect(await failureOf(read(response))).toMatchObject({ code: 'ABORTED' })
    }
  })
})

describe('times', () => {
  // Each test has one short time: on a busy machine whatever comes before takes long.
  it('TIMEOUT_HEADERS after a silent accept', async () => {
    const { origin } = await sockets(() => {})
    const hasty = undiciTransport({ env: {}, timeouts: { headers: 200 } })
    expect(await failureOf(hasty(get(origin), granted))).toMatchObject({ name: 'TimeoutError', code: 'TIMEOUT_HEADERS', retryable: true })
  })

  it('TIMEOUT_BODY when a body stalls', async () => {
    const good = await server((_request, reply) => {
      reply.write('begin')
    })
    const hasty = undiciTransport({ env: {}, timeouts: { body: 200 } })
    const response = await hasty(get(`${good.origin}/`), granted)
    expect(await failureOf(response.bytes(MIB))).toMatchObject({ code: 'TIMEOUT_BODY', retryable: true })
  })

  it('TIMEOUT_CONNECT when the name server is silent', async () => {
    const never = undiciTransport({ env: {}, timeouts: { connect: 200 }, lookup: () => new Promise(() => {}) })
    expect(await failureOf(never(get('http://data.example/')))).toMatchObject({ code: 'TIMEOUT_CONNECT', retryable: true })
  })

  it('TIMEOUT_TOTAL when an answer drips, or does not come', async () => {
    const good = await server((_request, reply) => {
      const timer = setInterval(() => reply.write('x'), 20)
      reply.on('close', () => clearInterval(timer))
    })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const response = await send(get(`${good.origin}/`), { ...granted, timeout: 150 })
    const ended = failureOf(response.bytes(MIB))
    vi.advanceTimersByTime(150)
    expect(await ended).toMatchObject({ name: 'TimeoutError', code: 'TIMEOUT_TOTAL', retryable: true })
    vi.useRealTimers()
    const { origin } = await sockets(() => {})
    expect(await failureOf(send(get(origin), { ...granted, timeout: 100 }))).toMatchObject({ code: 'TIMEOUT_TOTAL' })
  })

  it('a time beyond what timers can do is no time at all', async () => {
    const good = await server()
    expect(await (await send(get(`${good.origin}/`), { ...granted, timeout: 1e12 })).text(2)).toBe('ok')
  })
})
