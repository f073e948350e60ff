import { Agent, get } from 'node:http'
import { describe, expect, it } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import { corsFields, OWN_FIELDS, preflightFields, requestFields, responseFields } from '../../../src/node/gateway/guard.ts'
import { isFixedHost } from '../../../src/node/gateway/server.ts'
import { canary, leaks, shown } from '../../harness/canary.ts'
import { isToken, openGateway, raw, startArchive, withToken } from './origin.ts'

async function fixture(options = {}) {
  const archive = await startArchive({ files: { '/a/b.tif': 'image' }, accepts: isToken })
  const gateway = await openGateway(withToken(archive.origin), options)
  const path = new URL(gateway.urlFor(`${archive.origin}a/b.tif`)).pathname
  return { archive, gateway, path, host: `127.0.0.1:${gateway.port}`, root: new URL(gateway.base).pathname }
}

type Fixture = Awaited<ReturnType<typeof fixture>>

/** A request from its lines between bars, with values of the fixture for names in braces, and a text of that length for a number. */
function written(text: string, { archive, gateway, path, host, root }: Fixture): string {
  const [capability, file] = [path.slice(0, 33), path.slice(33)]
  const known = { path, host, root, capability, file, part: path.slice(0, 20), CAPABILITY: capability.toUpperCase() }
  const values: Record<string, unknown> = { ...known, archive: new URL(archive.origin).host, port: gateway.port }
  const filled = text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? 'x'.repeat(Number(name))))
  const [line = '', ...fields] = filled.split(' | ')
  const lines = [line.includes(' HTTP/') ? line : `${line} HTTP/1.1`, ...fields].join('\r\n')
  return fields.includes('') ? lines : `${lines}\r\n\r\n`
}

const status = (answer: string) => answer.slice(0, 12)

describe('a hostile request', () => {
  const requests: readonly (readonly [string, string, string])[] = [
    ['without a capability', 'GET / | Host: {host}', '404'],
    ['with another capability', 'GET /00000000000000000000000000000000{file} | Host: {host}', '404'],
    ['with a part of the capability', 'GET {part} | Host: {host}', '404'],
    ['with the capability in upper case', 'GET {CAPABILITY}{file} | Host: {host}', '404'],
    ['with a parameter behind the capability', 'GET {capability};x{file} | Host: {host}', '404'],
    ['with two slashes before the capability', 'GET /{path} | Host: {host}', '404'],
    ['for another host', 'GET {path} | Host: evil.example', '403'],
    ['for another port', 'GET {path} | Host: 127.0.0.1:80', '403'],
    ['for a name that begins like localhost', 'GET {path} | Host: localhost.evil.example:{port}', '403'],
    ['for two hosts', 'GET {path} | Host: {host} | Host: evil.example', '403'],
    ['without a host', 'GET {path}', '400'],
    ['of HTTP/1.0 without a host', 'GET {path} HTTP/1.0', '403'],
    ['of a web page', 'GET {path} | Host: {host} | Origin: https://evil.example', '403'],
    ['of a sandboxed web page', 'GET {path} | Host: {host} | Origin: null', '403'],
    ['of an image in a web page', 'GET {path} | Host: {host} | Sec-Fetch-Site: cross-site', '403'],
    ['of a page on another port', 'GET {path} | Host: {host} | Sec-Fetch-Site: same-site', '403'],
    ['that is a preflight', 'OPTIONS {path} | Host: {host} | Origin: https://evil.example | Access-Control-Request-Method: GET', '403'],
    ['that asks for the methods', 'OPTIONS {path} | Host: {host}', '405'],
    ['that is a preflight of no page', 'OPTIONS {path} | Host: {host} | Access-Control-Request-Method: GET', '405'],
    ['in absolute form', 'GET http://{host}{path} | Host: {host}', '400'],
    ['in absolute form for the archive', 'GET http://{archive}/a/b.tif | Host: {host}', '400'],
    ['for a tunnel', 'CONNECT {archive} | Host: {archive}', ''],
    ['for the whole server', 'OPTIONS * | Host: {host}', '400'],
    ['to write', 'PUT {path} | Host: {host} | Content-Length: 0', '405'],
    ['to delete', 'DELETE {path} | Host: {host}', '405'],
    ['to upgrade', 'OPTIONS {path} | Host: {host} | Connection: Upgrade | Upgrade: h2c', '405'],
    ['with a body', 'GET {path} | Host: {host} | Content-Length: 5 |  | hello', '400'],
    ['with a body in chunks', 'GET {path} | Host: {host} | Transfer-Encoding: chunked |  | 5 | hello | 0 |  | ', '400'],
    ['with two lengths', 'POST {path} | Host: {host} | Content-Length: 5 | Content-Length: 6 |  | hello', '400'],
    ['with a length and chunks', 'POST {path} | Host: {host} | Content-Length: 5 | Transfer-Encoding: chunked |  | 0 |  | ', '400'],
    ['with an unknown transfer coding', 'POST {path} | Host: {host} | Transfer-Encoding: xchunked |  | 0 |  | ', '400'],
    ['with a line feed in a field', 'GET {path} | Host: {host} | X: a\n b', '400'],
    ['with a long request line', 'GET {path}?{17000} | Host: {host}', '414'],
    ['with long fields', 'GET {path} | Host: {host} | X: {33000}', '431'],
    ['that names no URL', 'GET {root} | Host: {host}', '400'],
    ['for a file', 'GET {root}file//etc/passwd | Host: {host}', '400'],
    ['with a user in the URL', 'GET {root}http/u:p@{archive}/a/b.tif | Host: {host}', '400'],
    ['with an encoded host', 'GET {root}https/data%2eexample/x | Host: {host}', '400'],
    ['with an empty host', 'GET {root}https//evil.example/x | Host: {host}', '400'],
    ['with bytes that are not ASCII', 'GET {path}\xe9 | Host: {host}', '400'],
    ['with a backslash', 'GET {path}\\..\\x | Host: {host}', '400'],
    ...[
      '/..',
      '/../x',
      '/./x',
      '/%2e%2e/x',
      '/.%2E/x',
      '/%252e%252e/x',
      '/..;/x',
      '/.;a/x',
      '/..%2fx',
      '/..%5cx',
      '/x%2f..%2fy',
      '/%2e',
    ].map((trick) => [`with the path trick ${trick}`, `GET {root}http/{archive}/a${trick} | Host: {host}`, '400'] as const),
  ]

  it.each(requests)('%s gets no byte of the archive and makes no request', async (_name, request, expected) => {
    const at = await fixture()
    const answer = await raw(at.gateway.port, written(request, at))
    expect(status(answer)).toBe(expected && `HTTP/1.1 ${expected}`)
    expect(answer).not.toContain('image')
    expect(at.archive.sent).toEqual([])
  })

  it('without the capability is told nothing', async () => {
    const { gateway, host } = await fixture()
    const answer = await raw(gateway.port, `GET /x HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    expect(answer.split('\r\n').filter((line) => !line.startsWith('Date'))).toEqual([
      'HTTP/1.1 404 Not Found',
      'Content-Length: 0',
      'Connection: close',
      '',
      '',
    ])
  })

  it('with the capability is told the code of the error', async () => {
    const { gateway, root, host } = await fixture()
    const answer = await raw(gateway.port, `GET ${root} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    expect(answer).toMatch(/^x-stac-auth-code: REQUEST_REFUSED\r$/im)
  })

  it('smuggled behind another one is not read', async () => {
    const { gateway, path, host, archive } = await fixture()
    const inner = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`
    const answer = await raw(gateway.port, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`)
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400'])
    expect(archive.sent).toEqual([])
  })
})

describe('any mixture of path tricks', () => {
  const pieces = [
    '..',
    '.',
    '%2e',
    '%2E%2e',
    '%252e',
    ';',
    '/',
    '//',
    '%2f',
    '%5c',
    'a',
    'b.tif',
    ':',
    '@',
    '%00',
    '~',
    '?',
    '..;',
    '%c0%ae',
    '%',
  ]
  const fixed = (seed: number) => {
    let state = seed
    return () => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31
      return state / 2 ** 31
    }
  }
  /** The path that the most generous server would read. */
  const read = (target: string) => {
    let path = target.split('?')[0] ?? ''
    for (let round = 0; round < 4; round++)
      path = path.replace(/%([0-7][0-9a-f])/gi, (_all, code) => String.fromCharCode(Number.parseInt(code, 16)))
    return new URL(
      path
        .replaceAll('\\', '/')
        .replace(/;[^/]*/g, '')
        .replace(/\/+/g, '/'),
      'http://x',
    ).pathname
  }

  it('leads nowhere but below the folder that sendTo names', async () => {
    const archive = await startArchive({ files: { '/a/b.tif': 'image' } })
    const gateway = await openGateway(withToken(`${archive.origin}a/`))
    const random = fixed(7)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const root = `${new URL(gateway.base).pathname}http/${new URL(archive.origin).host}/`
    for (let round = 0; round < 1000; round++) {
      const trick = Array.from({ length: 1 + Math.floor(random() * 6) }, () => pieces[Math.floor(random() * pieces.length)]).join('')
      await new Promise<void>((resolve) => {
        const path = `${root}${round % 2 ? 'a/' : ''}${trick}`
        get({ host: '127.0.0.1', port: gateway.port, path, agent }, (response) => response.resume().on('end', resolve)).on('error', () =>
          resolve(),
        )
      })
    }
    agent.destroy()
    expect(archive.sent.length).toBeGreaterThan(20)
    expect(archive.sent.map(({ target }) => target).filter((target) => !/^\/a(?:\/|$)/.test(read(target)))).toEqual([])
  })
})

describe('a request that names the gateway', () => {
  it.each(['127.0.0.1', 'localhost', '[::1]', 'LOCALHOST'])('as %s is answered', async (name) => {
    const { gateway, path } = await fixture()
    expect(await raw(gateway.port, `GET ${path} HTTP/1.1\r\nHost: ${name}:${gateway.port}\r\nConnection: close\r\n\r\n`)).toContain('image')
  })

  it('is answered whatever the values of other fields are', async () => {
    const { gateway, path, host } = await fixture()
    const request = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nX-Sort-By: host\r\nConnection: close\r\n\r\n`
    expect(await raw(gateway.port, request)).toContain('image')
  })

  it('with HEAD is answered without a body', async () => {
    const { gateway, path, host } = await fixture()
    const answer = await raw(gateway.port, `HEAD ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\n$/s)
  })

  it('with a search is answered by the server', async () => {
    const { gateway, archive, host, root } = await fixture()
    const search = `POST ${root}http/${new URL(archive.origin).host}/search HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n`
    const fields = 'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'
    expect(status(await raw(gateway.port, search + fields))).toBe('HTTP/1.1 404')
    expect(archive.sent).toMatchObject([{ method: 'POST', body: '{}' }])
  })

  it('by typing its URL into a browser is answered', async () => {
    const { gateway, path, host } = await fixture()
    const request = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nSec-Fetch-Site: none\r\nConnection: close\r\n\r\n`
    expect(await raw(gateway.port, request)).toContain('image')
  })
})

describe('a host that no name server can lead elsewhere', () => {
  it.each(['127.0.0.1', '10.1.2.3:8080', '[2001:db8::1]:8080', 'localhost', 'MYHOST:1', 'myhost'])('is %s', (host) => {
    expect(isFixedHost(host, ['myhost'])).toBe(true)
  })

  it.each([
    '',
    'evil.example',
    'myhost.evil.example',
    '10.1.2.3.evil.example',
    'evil.example:80@10.1.2.3',
    '10.1.2.3@evil.example',
    'a b',
    'localhost:x',
    'localhost/x',
    'localhost?x',
    'localhost#x',
    'localhost\\x',
  ])('is not "%s"', (host) => {
    expect(isFixedHost(host, ['myhost'])).toBe(false)
  })
})

describe('allowOrigin', () => {
  const allowOrigin = 'https://viewer.example/app'

  it('answers pages of that origin, which may read the response', async () => {
    const { gateway, archive } = await fixture({ allowOrigin })
    const headers = { origin: 'https://viewer.example', 'sec-fetch-site': 'cross-site' }
    const response = await fetch(gateway.urlFor(`${archive.origin}a/b.tif`), { headers })
    expect([await response.text(), response.headers.get('access-control-allow-origin'), response.headers.get('vary')]).toEqual([
      'image',
      'https://viewer.example',
      'Origin',
    ])
  })

  it('answers programs as before', async () => {
    const { gateway, archive } = await fixture({ allowOrigin })
    expect(await (await fetch(gateway.urlFor(`${archive.origin}a/b.tif`))).text()).toBe('image')
  })

  it('keeps what else a response varies by', async () => {
    const archive = await startArchive({ answer: (_request, reply) => reply.writeHead(200, { vary: 'Accept' }).end() !== undefined })
    const gateway = await openGateway(withToken(archive.origin), { allowOrigin })
    const response = await fetch(gateway.urlFor(archive.origin), { headers: { origin: 'https://viewer.example' } })
    expect(response.headers.get('vary')).toBe('Origin, Accept')
  })

  it('lets these pages read errors as well', async () => {
    const { gateway } = await fixture({ allowOrigin })
    const response = await fetch(`${gateway.base}https/other.example/`, { headers: { origin: 'https://viewer.example' } })
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([403, 'https://viewer.example'])
  })

  it('answers their preflight requests without asking the archive', async () => {
    const { gateway, archive, path, host } = await fixture({ allowOrigin })
    const answer = await raw(
      gateway.port,
      `OPTIONS ${path} HTTP/1.1\r\nHost: ${host}\r\nOrigin: https://viewer.example\r\nAccess-Control-Request-Method: GET\r\n` +
        'Access-Control-Request-Private-Network: true\r\nConnection: close\r\n\r\n',
    )
    expect(status(answer)).toBe('HTTP/1.1 204')
    expect(answer).toContain('Access-Control-Allow-Private-Network: true')
    expect(answer).toMatch(/Access-Control-Allow-Headers: .*Range/)
    expect(archive.sent).toEqual([])
  })

  it('answers a request target of 16,384 bytes, and not of one more', async () => {
    const { gateway, path, host } = await fixture({ allowOrigin })
    const preflight = (target: string) =>
      `OPTIONS ${target} HTTP/1.1\r\nHost: ${host}\r\nOrigin: https://viewer.example\r\n` +
      'Access-Control-Request-Method: GET\r\nConnection: close\r\n\r\n'
    const longest = `${path}?`.padEnd(16_384, 'x')
    expect(status(await raw(gateway.port, preflight(longest)))).toBe('HTTP/1.1 204')
    expect(status(await raw(gateway.port, preflight(`${longest}x`)))).toBe('HTTP/1.1 414')
  })

  it('does not answer OPTIONS of that origin that is not a preflight', async () => {
    const { gateway, archive, path, host } = await fixture({ allowOrigin })
    const answer = await raw(gateway.port, `OPTIONS ${path} HTTP/1.1\r\nHost: ${host}\r\nOrigin: https://viewer.example\r\n\r\n`)
    expect(status(answer)).toBe('HTTP/1.1 405')
    expect(archive.sent).toEqual([])
  })

  it('does not answer a request that names that origin and another one', async () => {
    const { gateway, archive, path, host } = await fixture({ allowOrigin })
    for (const origins of [
      ['https://viewer.example', 'https://evil.example'],
      ['https://evil.example', 'https://viewer.example'],
      ['https://viewer.example', 'https://viewer.example'],
    ]) {
      const fields = origins.map((origin) => `Origin: ${origin}\r\n`).join('')
      expect(status(await raw(gateway.port, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${fields}\r\n`))).toBe('HTTP/1.1 403')
    }
    expect(archive.sent).toEqual([])
  })

  it.each(['https://viewer.example.evil.example', 'http://viewer.example', 'https://evil.example', 'null'])(
    'does not answer pages of %s',
    async (origin) => {
      const { gateway, archive } = await fixture({ allowOrigin })
      const response = await fetch(gateway.urlFor(`${archive.origin}a/b.tif`), { headers: { origin } })
      expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([403, null])
      expect(archive.sent).toEqual([])
    },
  )

  it('that is not the URL of a page is a mistake of the caller', async () => {
    await expect(openGateway(createAuth({ credentials: [] }), { allowOrigin: '*' })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })
})

describe('secrets', () => {
  it('are in no answer and no event, whatever the server repeats', async () => {
    const [token, key, password] = [canary('token'), canary('key', '+/='), canary('password', '"é')]
    const archive = await startArchive({
      answer: (request, response) => {
        const wanted = Number(/status=(\d+)/.exec(request.url ?? '')?.[1] ?? 200)
        const location = /location=1/.test(request.url ?? '') ? { location: `http://127.0.0.1:1/${request.headers.authorization}` } : {}
        response.writeHead(wanted, {
          'www-authenticate': `Bearer error="invalid_token", x="${encodeURIComponent(String(request.headers.authorization))}"`,
          'set-cookie': `a=${encodeURIComponent(String(request.headers.authorization))}`,
          'x-echo': encodeURIComponent(request.url ?? ''),
          link: `<${encodeURIComponent(request.url ?? '')}>`,
          ...location,
        })
        response.end('nothing')
        return true
      },
    })
    const at = (folder: string) => [`${archive.origin}${folder}/`]
    const credentials = [
      { id: 'token', type: 'http', scheme: 'bearer', token: token.value, sendTo: at('token') },
      { id: 'key', type: 'apiKey', in: 'query', name: 'key', value: key.value, sendTo: at('key') },
      { id: 'basic', type: 'http', scheme: 'basic', username: 'ada', password: password.value, sendTo: at('basic') },
    ] as const
    const gateway = await openGateway(createAuth({ credentials }))
    const texts: Record<string, string> = {}
    for (const folder of ['token', 'key', 'basic']) {
      for (const query of ['', '?status=404', '?status=401', '?status=403', '?status=302&location=1', '?status=302', '?status=500']) {
        const response = await fetch(gateway.urlFor(`${archive.origin}${folder}/x${query}`))
        texts[`${folder}${query}`] = `${shown(Object.fromEntries(response.headers))}\n${await response.text()}`
      }
    }
    texts.events = shown(gateway.events)
    expect(leaks([token, key, password], texts)).toEqual([])
    expect(shown(archive.sent)).toContain(token.value)
    expect(texts.events).toContain('AUTH_REJECTED')
  })

  it('of the gateway are sent to no server and are in no event', async () => {
    const { gateway, archive } = await fixture()
    const capability = gateway.base.slice(-33, -1)
    await fetch(gateway.urlFor(`${archive.origin}a/b.tif`), { headers: { referer: gateway.base } })
    await fetch(`${gateway.base}https/other.example/`)
    await fetch(`${gateway.base}nothing`)
    expect(capability).toMatch(/^[0-9a-f]{32}$/)
    expect(shown([archive.sent, gateway.events])).not.toContain(capability)
  })

  it('differ from gateway to gateway', async () => {
    const [one, other] = [await fixture(), await fixture()]
    expect(one.gateway.base.slice(-33)).not.toBe(other.gateway.base.slice(-33))
  })
})

describe('the fields of a request that are sent', () => {
  const chosen = {
    accept: 'image/tiff',
    'accept-language': 'de',
    range: 'bytes=0-1',
    'if-range': '"v1"',
    'if-match': '"v1"',
    'if-none-match': '"v2"',
    'if-modified-since': 'Sun, 22 Nov 2026 10:00:00 GMT',
    'if-unmodified-since': 'Sun, 22 Nov 2026 11:00:00 GMT',
    'user-agent': 'viewer',
  }

  it('say what is wanted, and nothing else', () => {
    const others = { host: 'a', cookie: 'b', authorization: 'c', referer: 'd', origin: 'e', 'x-forwarded-for': 'f', connection: 'close' }
    expect(requestFields({ ...chosen, ...others })).toEqual({ ...chosen, 'accept-encoding': 'identity' })
    expect(requestFields({ 'set-cookie': ['a'], accept: ['a', 'b'] as never })).toEqual({ 'accept-encoding': 'identity' })
  })

  it.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['zstd, *', 'identity'],
    ['gzip, deflate , BR;q=0.5,identity; q=0', 'gzip, deflate, BR;q=0.5, identity; q=0'],
    ['zstd, gzip', 'gzip'],
    ['x-gzip', 'x-gzip'],
    ['zgzip, gzipped, br;q=x, br;level=5', 'identity'],
  ])('name the codings of %j that can be decoded: %j', (given, sent) => {
    expect(requestFields(given === undefined ? {} : { 'accept-encoding': given })['accept-encoding']).toBe(sent)
  })

  it('name no coding for a range, which is of the coded bytes', () => {
    expect(requestFields({ range: 'bytes=0-1', 'accept-encoding': 'gzip' })['accept-encoding']).toBe('identity')
  })
})

describe('the fields of a response that are forwarded', () => {
  const known = {
    'Content-Type': 'image/tiff',
    'Content-Language': 'de',
    'Content-Disposition': 'attachment',
    'Content-Encoding': 'gzip',
    'Content-Length': '5',
    'Content-Range': 'bytes 0-4/9',
    'Accept-Ranges': 'bytes',
    ETag: '"v1"',
    'Last-Modified': 'Sun, 22 Nov 2026 10:00:00 GMT',
    Age: '7',
    Expires: 'Sun, 22 Nov 2026 12:00:00 GMT',
    'Cache-Control': 'max-age=60',
    Vary: 'Accept',
    'Retry-After': '8',
  }
  const others = { 'Set-Cookie': 'a=b', Location: '/', 'WWW-Authenticate': 'Basic', Link: '</>', 'X-Frame-Options': 'DENY', Refresh: '0' }
  const response = { headers: new Headers({ ...known, ...others }) } as unknown as Parameters<typeof responseFields>[0]

  it('describe the body, and those of the gateway are added', () => {
    expect(responseFields(response, { credential: undefined, origin: undefined })).toEqual({ ...known, ...OWN_FIELDS })
  })

  it('let nobody store what was requested with a credential', () => {
    const { Age, Expires, ...kept } = known
    expect(responseFields(response, { credential: 'mine', origin: undefined })).toEqual({
      ...kept,
      'Cache-Control': 'private, no-store',
      ...OWN_FIELDS,
    })
    expect([Age, Expires]).toEqual(['7', expect.any(String)])
  })

  it('let a page of an allowed origin read it', () => {
    expect(responseFields(response, { credential: undefined, origin: 'https://viewer.example' })).toEqual({
      ...known,
      ...OWN_FIELDS,
      ...corsFields('https://viewer.example'),
      Vary: 'Origin, Accept',
    })
    expect(corsFields(undefined)).toEqual({})
  })

  it('of a preflight request allow a private network where it is asked for, for ten minutes', () => {
    const fields = preflightFields('https://viewer.example', {})
    expect(fields).toMatchObject({ 'Access-Control-Allow-Origin': 'https://viewer.example', 'Access-Control-Max-Age': '600' })
    expect(Object.keys(fields)).not.toContain('Access-Control-Allow-Private-Network')
    const asked = { 'access-control-request-private-network': 'true' }
    expect(preflightFields('https://viewer.example', asked)['Access-Control-Allow-Private-Network']).toBe('true')
  })
})
