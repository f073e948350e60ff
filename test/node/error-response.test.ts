import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { answerFailure } from '../../src/node/base/answer-failure.ts'
import { undiciTransport } from '../../src/node/transport/undici-transport.ts'

interface Told {
  readonly status?: number
  readonly body?: unknown
  readonly gzip?: boolean
  /** Never ends the body. */
  readonly hang?: boolean
}

/** Answers as its path tells. */
const server = createServer((request, response) => {
  const path = new URL(request.url ?? '', 'http://h').pathname.slice(1)
  const { status = 403, body = '', gzip = false, hang = false }: Told = JSON.parse(Buffer.from(path, 'base64url').toString())
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  response.writeHead(status, gzip ? { 'content-encoding': 'gzip' } : {})
  response.write(gzip ? gzipSync(text) : text)
  if (!hang) response.end()
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const send = undiciTransport()
const answer = (told: Told, headers: Record<string, string> = {}, query = '') =>
  send(
    { method: 'GET', url: `${origin}/${Buffer.from(JSON.stringify(told)).toString('base64url')}${query}`, headers },
    { allowPrivateNetwork: true },
  )
const said = async (...told: Parameters<typeof answer>) => (await (await answer(...told)).serverMessage?.()) ?? {}

describe('the error of a refused request', () => {
  const body = {
    error: 'invalid_grant',
    error_description: 'EULA Acceptance Failure',
    resolution_url: 'https://login.example/approve?app=1',
  }

  it.each([
    [403, 'AUTH_REJECTED', 'none of your credentials matches it: '],
    [404, 'HTTP_404', 'the server answered 404'],
    [500, 'HTTP_500', 'the server answered 500'],
  ])('repeats what the server says with %s, and names its address', async (status, code, before) => {
    for (const gzip of [false, true]) {
      const error = await answerFailure(await answer({ status, gzip, body }))
      expect(error.code).toBe(code)
      expect(error.message).toContain(before)
      expect(error.message).toMatch(/: invalid_grant: EULA Acceptance Failure$/)
      expect(error.hint).toMatch(/^the server names https:\/\/login\.example\/approve\?app=1/)
    }
  })

  it('has at most 300 characters of the server, without control characters', async () => {
    const { message } = await said({ body: { message: `a\u001b[2J\u202e${'b '.repeat(500)}` } })
    expect(message).toMatch(/^a\\u\{1b\}\[2J\\u\{202e\}b b /)
    expect(message).toHaveLength(300)
  })

  it('has no address that was shortened', async () => {
    expect(await said({ body: { message: 'x', help: `https://a.example/${'b'.repeat(400)}` } })).toEqual({ message: 'x' })
  })

  it.each([
    ['a token', { authorization: 'Bearer tok-8731-secret' }, 'tok-8731-secret'],
    ['a login', { authorization: `Basic ${Buffer.from('ada:p4ssw0rd-4').toString('base64')}` }, 'p4ssw0rd-4'],
    ['a signature', { authorization: 'AWS4-HMAC-SHA256 Credential=AK/x, SignedHeaders=host, Signature=00deadbeef' }, '00deadbeef'],
    ['a cookie', { cookie: 'b=1; sid=cookie-secret-1' }, 'cookie-secret-1'],
    ['a key', { 'x-key': 'key-secret-2' }, 'key-secret-2'],
    ['a query', {}, 'sig/secret-3'],
  ])('contains no secret of %s, in whatever encoding the server repeats it', async (_, headers, secret) => {
    const forms = [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64'), Buffer.from(secret).toString('hex')]
    const { message, address } = await said(
      { body: { message: `${forms.join(' ')} is refused`, help: `https://a.example/?x=${encodeURIComponent(secret)}` } },
      headers,
      `?sig=${encodeURIComponent('sig/secret-3')}`,
    )
    expect(message).toMatch(/ is refused$/)
    for (const form of forms) expect(message).not.toContain(form)
    expect(address).toBeUndefined()
  })

  it('keeps the words of a message that are also words of a scheme', async () => {
    const authorization = 'Digest username="ada-lovelace", realm="data", qop=auth, response="0123456789abcdef"'
    expect(
      await said({ body: { message: 'authentication of data failed: 0123456789abcdef' } }, { authorization, accept: 'text/plain' }),
    ).toEqual({
      message: 'authentication of data failed: [secret]',
    })
  })

  it('does not wait for a body that never ends', async () => {
    const error = await answerFailure(await answer({ status: 404, hang: true, body: 'not here' }))
    expect(error.message).toMatch(/the server answered 404: not here$/)
  })
})
