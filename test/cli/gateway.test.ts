import { once } from 'node:events'
import { statSync } from 'node:fs'
import { createServer as createHttpServer, get } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { put, temporaryFolder } from './folder.ts'
import { itemWith, keyFor } from './items.ts'
import { lastError, type Outcome, run } from './run.ts'
import { body, KEY, serve } from './server.ts'

const folder = await temporaryFolder()

beforeEach(() => {
  vi.stubEnv('STAC_AUTH_TEST_KEY', KEY)
})

interface Running {
  /** Lines of stdout so far. */
  readonly lines: readonly string[]
  /** Waits for the line of that number, from 0. */
  line(number: number): Promise<string>
  /** Interrupts the command and returns what it printed to stderr. */
  stop(signal?: string): Promise<Outcome>
}

function start(args: readonly string[]): Running {
  const lines: string[] = []
  let [rest, wake] = ['', () => {}]
  const stdout = new Writable({
    write(chunk, _encoding, done) {
      const parts = (rest + String(chunk)).split('\n')
      rest = parts.pop() ?? ''
      lines.push(...parts)
      wake()
      done()
    },
  })
  const interruption = new AbortController()
  const outcome = run(['gateway', ...args], { stdout, signal: interruption.signal })
  return {
    lines,
    line: async (number) => {
      while (lines.length <= number) {
        const ended = await Promise.race([outcome, new Promise<void>((resolve) => (wake = resolve))])
        if (ended) throw new Error(ended.stderr)
      }
      return lines[number] ?? ''
    },
    stop: (signal = 'SIGINT') => {
      interruption.abort(signal)
      return outcome
    },
  }
}

async function fixture() {
  const server = await serve({
    '/private/b.tif': body('image'),
    '/private/b.tif?x=secret': body('image'),
    '/private/b.tif.aux.xml?sig=abc': body('statistics'),
  })
  const data = { href: `${server.origin}private/b.tif`, 'auth:refs': ['key'] }
  const item = await put(folder, 'item.json', itemWith({ data, remote: { href: 'https://data.example/x' } }))
  const credentials = await put(folder, 'credentials.json', keyFor(`${server.origin}private/`))
  return { server, item, credentials }
}

describe('gateway', () => {
  it('prints the base and the targets as the first JSON line, then a line for each request', async () => {
    const { server, item, credentials } = await fixture()
    const running = start([item, '--credentials', credentials, '--json'])
    const { ready } = JSON.parse(await running.line(0))
    expect(ready.base).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/$/)
    expect(ready.targets).toEqual([
      {
        document: 'x',
        key: 'data',
        href: `${server.origin}private/b.tif`,
        url: `${ready.base}${server.origin.replace('://', '/')}private/b.tif`,
      },
      { document: 'x', key: 'remote', href: 'https://data.example/x', url: `${ready.base}https/data.example/x` },
    ])
    expect(await (await fetch(`${ready.targets[0].url}?x=secret`)).text()).toBe('image')
    expect(JSON.parse(await running.line(1))).toEqual({
      request: {
        method: 'GET',
        url: `${server.origin}private/b.tif`,
        status: 200,
        bytes: 5,
        milliseconds: expect.any(Number),
        credential: 'portal',
      },
    })
    expect(await running.stop()).toMatchObject({ code: 130 })
    await expect(fetch(ready.targets[0].url)).rejects.toThrow()
  })

  it('prints a line for a request that is interrupted by its end', async () => {
    const hanging = createHttpServer((_request, response) => void response.writeHead(200, { 'content-length': 10 }).write('image'))
    hanging.listen(0, '127.0.0.1')
    await once(hanging, 'listening')
    onTestFinished(() => {
      hanging.closeAllConnections()
      hanging.close()
    })
    const origin = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}/`
    const credentials = await put(folder, 'hanging.json', keyFor(origin))
    for (const form of [['--json'], []]) {
      const running = start(['--credentials', credentials, ...form])
      const base = form.length > 0 ? JSON.parse(await running.line(0)).ready.base : (await running.line(0)).replace('Gateway ', '')
      const response = await fetch(`${base}${origin.replace('://', '/')}b.tif`)
      await response.body?.getReader().read()
      const { stderr } = await running.stop()
      if (form.length > 0)
        expect(JSON.parse(running.lines[1] ?? '{}')).toMatchObject({ request: { url: `${origin}b.tif`, bytes: 5, code: 'ABORTED' } })
      else expect(stderr).toMatch(/^200 .*b\.tif {2}ABORTED "portal"\n1 request, 5 bytes\n$/m)
    }
  })

  it('prints a URL for each target for people, and each request on stderr, with neither key nor query', async () => {
    const { server, item, credentials } = await fixture()
    const running = start([item, '--credentials', credentials])
    const base = (await running.line(0)).replace('Gateway ', '')
    expect(await running.line(3)).toBe('Whoever knows these URLs can use your credentials. Ctrl-C stops the gateway.')
    expect(running.lines[1]).toBe(`data    ${base}${server.origin.replace('://', '/')}private/b.tif`)
    await fetch(`${running.lines[1]?.slice(8)}.aux.xml?sig=abc`)
    await fetch(`${base}https/other.example/`)
    const { stderr, code } = await running.stop('SIGTERM')
    expect(code).toBe(143)
    expect(stderr.replace(/\d+ ms/g, 'N ms')).toMatch(
      /^200 +10 bytes +N ms {2}GET http:\/\/127\.0\.0\.1:\d+\/private\/b\.tif\.aux\.xml {2}"portal"$/m,
    )
    expect(stderr).toMatch(/^403 .*GET https:\/\/other\.example\/ {2}NO_CREDENTIAL$/m)
    expect(stderr).toMatch(/^2 requests, 1 failed, 10 bytes$/m)
    expect(stderr).not.toContain(KEY)
    expect(stderr).not.toContain(base.slice(-33, -1))
    expect(stderr).not.toContain('sig=abc')
  })

  it('names the documents of a target where there are several', async () => {
    const one = await put(folder, 'one.json', { ...itemWith({ B1: { href: 'https://data.example/1' } }), id: 'one' })
    const two = await put(folder, 'two.json', { ...itemWith({ B1: { href: 'https://data.example/2' } }), id: 'two' })
    const running = start([one, two])
    expect(await running.line(1)).toMatch(/^one\/B1 {2}http/)
    expect(await running.line(2)).toMatch(/^two\/B1 {2}http/)
    await running.stop()
  })

  it('passes documents through with --no-rewrite', async () => {
    const text = JSON.stringify(itemWith({ data: { href: '/private/b.tif' } }))
    const server = await serve({ '/private/item.json': body(text) })
    const credentials = await put(folder, 'other.json', keyFor(`${server.origin}private/`))
    const url = async (...options: string[]) => {
      const running = start(['--credentials', credentials, '--json', ...options])
      const { ready } = JSON.parse(await running.line(0))
      const answer = await (await fetch(`${ready.base}${server.origin.replace('://', '/')}private/item.json`)).json()
      await running.stop()
      return answer.assets.data.href
    }
    expect(await url('--no-rewrite')).toBe('/private/b.tif')
    expect(await url()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/http\/127\.0\.0\.1:\d+\/private\/b\.tif$/)
  })

  it('answers pages of the origin that --allow-origin names', async () => {
    const { item, credentials } = await fixture()
    const running = start([item, '--credentials', credentials, '--json', '--allow-origin', 'https://viewer.example/'])
    const { ready } = JSON.parse(await running.line(0))
    const statuses = ['https://viewer.example', 'https://evil.example'].map(
      async (origin) => (await fetch(ready.targets[0].url, { headers: { origin } })).status,
    )
    expect(await Promise.all(statuses)).toEqual([200, 403])
    await running.stop()
  })

  it('listens on a Unix socket that only the user can open', async () => {
    const { item, credentials } = await fixture()
    const path = join(folder, 'gateway.sock')
    const running = start([item, '--credentials', credentials, '--json', '--listen', path])
    const { ready } = JSON.parse(await running.line(0))
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const program = get({ socketPath: path, path: new URL(ready.targets[0].url).pathname })
    const [response] = await once(program, 'response')
    expect(String(await response.toArray())).toBe('image')
    await running.stop()
    expect(statSync(path, { throwIfNoEntry: false })).toBeUndefined()
  })

  it('listens on the port that is given, or says that it is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const address = other.address()
    const port = String(typeof address === 'object' ? address?.port : '')
    const refused = await run(['gateway', '--port', port, '--json'])
    expect([refused.code, lastError(refused).code]).toEqual([5, 'NETWORK_LISTEN'])
    other.close()
    await once(other, 'close')
    const running = start(['--port', port])
    expect(await running.line(0)).toContain(`http://127.0.0.1:${port}/`)
    expect((await running.stop()).stderr).toBe('for https://HOST/PATH, request /https/HOST/PATH below that URL\n')
  })

  it.each([
    [['--listen', '0.0.0.0:8080'], 'others could connect to 0.0.0.0:8080 and use your credentials'],
    [['--listen', '127.0.0.1:80', '--port', '80'], 'the port is given twice: in --listen and as --port'],
    [['--listen', '8080'], '"8080" does not say on which address to listen'],
    [['--listen', ':8080'], '":8080" does not say on which address to listen'],
    [['--listen', ''], '--listen is empty'],
    [['--listen', 'x.sock', '--port', '80'], '--port has no meaning for a Unix socket'],
    [['--allow-origin', '*'], 'invalid value "*" for --allow-origin: it must be an origin, such as https://viewer.example'],
    [['--allow-origin', 'https://viewer.example/app'], 'it must be an origin'],
  ])('refuses %j', async (options, message) => {
    const outcome = await run(['gateway', '--json', ...options])
    expect([outcome.code, lastError(outcome).code]).toEqual([2, 'USAGE'])
    expect(lastError(outcome).message).toContain(message)
  })

  it('says at once which targets no credential is for', async () => {
    const item = await put(
      folder,
      'foreign.json',
      itemWith({ data: { href: 'https://data.example/x', 'auth:refs': ['key'] }, open: { href: 'https://data.example/y' } }),
    )
    const running = start([item])
    await running.line(3)
    const { stderr } = await running.stop()
    expect(stderr).toContain(
      `warning NO_CREDENTIAL /assets/data: 1 of 1 protected targets cannot be requested; to see why: stac-auth explain ${item}`,
    )
  })

  it('ends when the reader of its output has left', async () => {
    const lines: string[] = []
    const stdout = new Writable({
      write(chunk, _encoding, done) {
        done(lines.push(String(chunk)) === 1 ? null : Object.assign(new Error('closed'), { code: 'EPIPE' }))
      },
    })
    const { item, credentials } = await fixture()
    const outcome = run(['gateway', item, '--credentials', credentials, '--json'], { stdout })
    await vi.waitFor(() => expect(lines).toHaveLength(1), 10_000)
    await fetch(JSON.parse(lines[0] ?? '').ready.targets[0].url).catch(() => undefined)
    expect((await outcome).code).toBe(130)
  })
})
