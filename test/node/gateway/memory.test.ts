import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { openGateway, startArchive, withToken } from './origin.ts'

const MIB = 2 ** 20

it('a long response leaves few buffers behind while it is passed on', async () => {
  const size = 256 * MIB
  const chunk = Buffer.alloc(MIB)
  const archive = await startArchive({
    answer: (_request, response) => {
      let left = size
      response.writeHead(200, { 'content-length': size })
      const push = () => {
        while (left > 0) {
          left -= chunk.length
          if (!response.write(chunk)) return
        }
        response.end()
      }
      response.on('drain', push)
      push()
      return true
    },
  })
  const gateway = await openGateway(withToken(archive.origin))
  const path = new URL(gateway.urlFor(`${archive.origin}x`)).pathname
  const before = process.memoryUsage().arrayBuffers
  let [received, next, most] = [0, 0, 0]
  // The client reads into one buffer, so that all others are of the gateway.
  const onread = {
    buffer: Buffer.alloc(65_536),
    callback: (bytes: number) => {
      received += bytes
      if (received > next) most = Math.max(most, process.memoryUsage().arrayBuffers - before)
      if (received > next) next += MIB
      return true
    },
  }
  await new Promise<void>((resolve, reject) => {
    const socket = connect({ port: gateway.port, host: '127.0.0.1', onread })
    socket.on('error', reject).on('close', () => resolve())
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${gateway.port}\r\nConnection: close\r\n\r\n`)
  })
  expect(received).toBeGreaterThan(size)
  // Without collections it is 36 MiB and more.
  expect(most / MIB).toBeLessThan(30)
  expect(globalThis).not.toHaveProperty('gc')
}, 20_000)
