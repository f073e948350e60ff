import { once } from 'node:events'
import { statSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { connect, createServer, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createGateway } from '../../../src/node/gateway/gateway.ts'
import { temporaryFolder } from '../../cli/folder.ts'
import { isToken, openGateway, raw, startArchive, withToken } from './origin.ts'

const folder = await temporaryFolder()

async function fixture(options = {}) {
  const archive = await startArchive({ files: { '/x': 'here' }, accepts: isToken })
  const gateway = await openGateway(withToken(archive.origin), options)
  return { archive, gateway, url: gateway.urlFor(`${archive.origin}x`) }
}

async function opened(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  onTestFinished(() => {
    socket.destroy()
  })
  return socket
}

describe('a flood of connections', () => {
  it.each([
    ['without a request', ''],
    ['with half a request', 'GET / HTTP/1.1\r\nHo'],
  ])(
    '%s does not keep programs out',
    async (_name, text) => {
      const { gateway, archive, url } = await fixture()
      const sockets = await Promise.all(Array.from({ length: 400 }, () => opened(gateway.port)))
      for (const socket of sockets) if (text) socket.write(text)
      expect(await (await fetch(url)).text()).toBe('here')
      expect(archive.sent).toHaveLength(1)
    },
    20_000,
  )

  it('with responses that nobody reads holds back one response each', async () => {
    const chunk = Buffer.alloc(2 ** 20)
    const archive = await startArchive({
      answer: (_request, response) => {
        response.writeHead(200)
        const push = () => {
          while (!response.destroyed && response.write(chunk)) {}
        }
        response.on('drain', push)
        push()
        return true
      },
    })
    const gateway = await openGateway(withToken(archive.origin))
    const request = `GET ${new URL(gateway.urlFor(archive.origin)).pathname} HTTP/1.1\r\nHost: 127.0.0.1:${gateway.port}\r\n\r\n`
    const socket = await opened(gateway.port)
    socket.pause()
    socket.write(request.repeat(20))
    await expect.poll(() => archive.sent.length).toBe(1)
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(archive.sent).toHaveLength(1)
  })

  it('of pipelined requests is ended', async () => {
    const { gateway, archive } = await fixture()
    const request = `GET ${new URL(gateway.urlFor(archive.origin)).pathname}x HTTP/1.1\r\nHost: 127.0.0.1:${gateway.port}\r\n\r\n`
    const answers = await raw(gateway.port, request.repeat(200))
    expect(answers.match(/HTTP\/1\.1 200/g)?.length ?? 0).toBeLessThan(65)
    expect(archive.sent.length).toBeLessThan(65)
  })
})

describe('close', () => {
  it('ends what is under way and frees the port', async () => {
    const archive = await startArchive({ answer: (_request, reply) => reply.writeHead(200).write('a') !== undefined })
    const gateway = await openGateway(withToken(archive.origin))
    const program = get(gateway.urlFor(`${archive.origin}x`))
    const [response] = await once(program, 'response')
    const ended = once(response, 'error')
    await gateway.close()
    await ended
    const server = createServer().listen(gateway.port, '127.0.0.1')
    await once(server, 'listening')
    server.close()
  })

  it('happens with the signal of the caller', async () => {
    const abort = new AbortController()
    const { url } = await fixture({ signal: abort.signal })
    expect((await fetch(url)).status).toBe(200)
    abort.abort()
    await expect(fetch(url)).rejects.toThrow()
  })

  it('that happens while the gateway starts is ABORTED, and leaves no port open', async () => {
    const abort = new AbortController()
    const starting = createGateway(withToken('https://data.example/'), { signal: abort.signal })
    abort.abort()
    await expect(starting).rejects.toMatchObject({ code: 'ABORTED' })
  })

  it('that happened before is ABORTED', async () => {
    await expect(createGateway(withToken('https://data.example/'), { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'ABORTED',
    })
  })
})

describe('the address', () => {
  it('is the port of the caller', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0
    await expect(fixture({ port })).rejects.toMatchObject({ code: 'NETWORK_LISTEN', hint: expect.stringContaining('another port') })
    server.close()
    await once(server, 'close')
    expect((await fixture({ port })).gateway.port).toBe(port)
  })

  it('is not reachable from other machines', async () => {
    const { gateway } = await fixture()
    const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
    for (const { address, internal, family } of own) {
      if (internal || family !== 'IPv4') continue
      const socket = connect(gateway.port, address)
      const [error] = await once(socket, 'error')
      expect(error.code).toBe('ECONNREFUSED')
    }
  })

  it('may be a Unix socket that only the user can open', async () => {
    const path = join(folder, 'gateway.sock')
    const { gateway, archive } = await fixture({ listen: { path } })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(gateway.base).toMatch(/^http:\/\/localhost\/[0-9a-f]{32}\/$/)
    const body = await new Promise<string>((resolve) => {
      get({ socketPath: path, path: new URL(gateway.urlFor(`${archive.origin}x`)).pathname }, (response) => {
        response.on('data', (chunk) => resolve(String(chunk)))
      })
    })
    expect(body).toBe('here')
    await expect(fixture({ listen: { path } })).rejects.toMatchObject({ code: 'PATH_EXISTS' })
    await gateway.close()
    expect(statSync(path, { throwIfNoEntry: false })).toBeUndefined()
  })

  it('is a socket also where its path reads as a number, never a port that others can connect to', async () => {
    const { gateway } = await fixture({ listen: { path: '65432' } })
    expect(statSync('65432').isSocket()).toBe(true)
    expect(gateway.base).toMatch(/^http:\/\/localhost\//)
    await gateway.close()
    await expect(fixture({ listen: { path: '' } })).rejects.toMatchObject({ code: 'PATH_EXISTS' })
  })

  it('refuses a path that the system would truncate, and says what to do about a folder that is missing', async () => {
    await expect(fixture({ listen: { path: join(folder, 'x'.repeat(108)) } })).rejects.toMatchObject({
      code: 'NETWORK_LISTEN',
      message: expect.stringMatching(/: the path of a socket has at most 10[37] bytes, this one has \d+$/),
      hint: 'choose a shorter path',
    })
    await expect(fixture({ listen: { path: join(folder, 'missing', 'x.sock') } })).rejects.toMatchObject({
      code: 'NETWORK_LISTEN',
      hint: 'choose a path in a folder that exists and that you can write to',
    })
  })

  it('may be the socket of a gateway that was killed', async () => {
    const path = join(folder, 'abandoned.sock')
    const { spawnSync } = await import('node:child_process')
    const script = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`
    spawnSync(process.execPath, ['-e', script])
    expect(statSync(path).isSocket()).toBe(true)
    await fixture({ listen: { path } })
  })

  it('is never another file', async () => {
    const path = join(folder, 'file')
    writeFileSync(path, 'mine')
    await expect(fixture({ listen: { path } })).rejects.toMatchObject({ code: 'PATH_EXISTS' })
    expect(statSync(path).size).toBe(4)
  })

  it('may be one that others can connect to, under names that nobody can lead elsewhere', async () => {
    const { gateway, archive, url } = await fixture({ listen: { host: '127.0.0.1', port: 0, othersCanConnect: true } })
    expect(await (await fetch(url)).text()).toBe('here')
    const path = new URL(gateway.urlFor(archive.origin)).pathname
    const rebound = await raw(gateway.port, `GET ${path}x HTTP/1.1\r\nHost: evil.example:${gateway.port}\r\n\r\n`)
    expect(rebound).toMatch(/^HTTP\/1\.1 403 /)
    for (const host of ['evil.example@127.0.0.1', '127.0.0.1/', '127.0.0.1#', '127.0.0.1?'])
      expect(await raw(gateway.port, `GET ${path}x HTTP/1.1\r\nHost: ${host}:${gateway.port}\r\nConnection: close\r\n\r\n`)).toMatch(
        /^HTTP\/1\.1 403 /,
      )
  })
})
