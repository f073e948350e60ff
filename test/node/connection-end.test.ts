import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { failureOf } from '../harness/failure.ts'
import { get, granted, send, sockets } from './transport-fixture.ts'

/** More than is kept for a slow reader, and less than fits into the buffers of the system: the parser pauses, and all has been sent. */
const SIZE = 300_000

const BODY = Buffer.alloc(SIZE, 'x')

const END = { 'the server closes': (socket: Socket) => socket.end(), 'the server resets': (socket: Socket) => socket.resetAndDestroy() }

async function readLate(framing: string, before: string, after: string, close: (socket: Socket) => unknown) {
  let ended = () => {}
  const end = new Promise<void>((resolve) => {
    ended = resolve
  })
  const { origin } = await sockets((socket) =>
    socket.once('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\n${framing}connection: close\r\n\r\n${before}`)
      socket.write(BODY)
      socket.write(after, async () => {
        await setTimeout(100)
        close(socket)
        ended()
      })
    }),
  )
  const response = await send(get(`${origin}/`), granted)
  await end
  await setTimeout(100)
  return response.bytes(SIZE)
}

describe('a reader that is slower than its server', () => {
  for (const [title, end] of Object.entries(END)) {
    it(`gets a whole body of a stated length when ${title}`, async () => {
      expect(await readLate(`content-length: ${SIZE}\r\n`, '', '', end)).toHaveLength(SIZE)
    })

    it(`gets a whole body in chunks when ${title}`, async () => {
      const read = readLate('transfer-encoding: chunked\r\n', `${SIZE.toString(16)}\r\n`, '\r\n0\r\n\r\n', end)
      expect(await read).toHaveLength(SIZE)
    })

    it(`gets an error for a body that is too short when ${title}`, async () => {
      expect(await failureOf(readLate(`content-length: ${SIZE + 1}\r\n`, '', '', end))).toMatchObject({ retryable: true })
      expect(await failureOf(readLate('transfer-encoding: chunked\r\n', `${SIZE.toString(16)}\r\n`, '', end))).toMatchObject({
        retryable: true,
      })
    })
  }

  it('gets a body that ends with its connection when the server closes', async () => {
    expect(await readLate('', '', '', END['the server closes'])).toHaveLength(SIZE)
  })

  it('gets an error for a body that ends with its connection when the server resets', async () => {
    expect(await failureOf(readLate('', '', '', END['the server resets']))).toMatchObject({ code: 'NETWORK_RESET', retryable: true })
  })
})
