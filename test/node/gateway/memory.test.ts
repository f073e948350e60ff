import { connect } from 'node:net'
import { constants, PerformanceObserver } from 'node:perf_hooks'
import { expect, it } from 'vitest'
import { openGateway, startArchive, withToken } from './origin.ts'

const MIB = 2 ** 20

/** What the gateway asks for, as opposed to what the engine does by itself. A limit on bytes would depend on what ran before. */
function countCollections(): { readonly count: number; stop(): void } {
  const counted = { count: 0, stop: () => observer.disconnect() }
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { kind, flags } = (entry as unknown as { readonly detail: { readonly kind: number; readonly flags: number } }).detail
      if (kind === constants.NODE_PERFORMANCE_GC_MINOR && flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) counted.count += 1
    }
  })
  observer.observe({ entryTypes: ['gc'] })
  return counted
}

it('the buffers of a long response are collected while it is passed on', async () => {
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
  const collections = countCollections()
  let received = 0
  // The client reads into one buffer, so that all others are of the gateway.
  const onread = {
    buffer: Buffer.alloc(65_536),
    callback: (bytes: number) => {
      received += bytes
      return true
    },
  }
  await new Promise<void>((resolve, reject) => {
    const socket = connect({ port: gateway.port, host: '127.0.0.1', onread })
    socket.on('error', reject).on('close', () => resolve())
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${gateway.port}\r\nConnection: close\r\n\r\n`)
  })
  expect(received).toBeGreaterThan(size)
  // One each 16 MiB; the last entries may still be on their way.
  await expect.poll(() => collections.count).toBeGreaterThanOrEqual(15)
  expect(collections.count).toBeLessThanOrEqual(18)
  collections.stop()
  expect(globalThis).not.toHaveProperty('gc')
}, 20_000)
