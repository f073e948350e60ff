import diagnostics from 'node:diagnostics_channel'
import { once } from 'node:events'
import { inspect } from 'node:util'
import { expect, it } from 'vitest'
import { HttpError } from '../../../src/services/client/errors.ts'
import type { Hooks } from '../../../src/services/client/events.ts'
import { failureOf } from '../../harness/failure.ts'
import { clientOf, operation, service, sockets, TOKEN } from './service.ts'

const DOCUMENT_KEY = 'doc-key-F00DBABE77'
const op = operation('safe', 'POST', { secrets: ['document_key'] })

/** The secret in every form in which it could come back, and a beginning of it. */
function formsOf(secret: string): readonly string[] {
  const base64 = Buffer.from(secret).toString('base64')
  return [
    secret,
    encodeURIComponent(secret),
    new URLSearchParams({ a: secret }).toString().slice(2),
    base64.slice(0, -4),
    secret.slice(0, 6),
  ]
}

/** What stands around a secret that is shown. */
function placesOf(form: string, shown: string): readonly string[] {
  return shown
    .split(form)
    .slice(0, -1)
    .map((before) => before.slice(-80) + form)
}

function shownBy(value: unknown): string {
  const json = JSON.stringify(value) ?? ''
  return [inspect(value, { depth: 12, showHidden: true, getters: true }), json, String(value), inspect(structuredClone(plain(value)))].join(
    '\n',
  )
}

/** What `structuredClone` takes of an error: no functions. */
function plain(value: unknown): unknown {
  return value instanceof Error ? value : JSON.parse(JSON.stringify(value) ?? 'null')
}

it('shows no secret in any channel, although the server repeats all of them in every form', async () => {
  const echoed = [TOKEN, DOCUMENT_KEY].flatMap(formsOf).join(' ')
  const { origin } = await service((_request, index) => ({
    status: index === 0 ? 500 : 400,
    headers: { 'x-trace-id': `trace ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ message: `wrong: ${echoed}`, code: TOKEN, detail: echoed, nested: [{ echoed }] }),
  }))
  const heard: unknown[] = []
  const listen = (payload: unknown) => heard.push(payload)
  const hooks: Hooks = { request: listen, response: listen, retry: listen, hookError: listen }
  diagnostics.subscribe('stac-auth:response', listen)
  const { client, clock } = clientOf(origin, { hooks })
  const error = await clock.run(failureOf(client.call(op, { body: { document_key: DOCUMENT_KEY }, query: { document_key: DOCUMENT_KEY } })))
  diagnostics.unsubscribe('stac-auth:response', listen)
  expect(error).toBeInstanceOf(HttpError)
  expect(heard.length).toBe(7)
  const shown = [error, client, ...heard].map(shownBy).join('\n')
  for (const secret of [TOKEN, DOCUMENT_KEY]) for (const form of formsOf(secret)) expect(placesOf(form, shown)).toEqual([])
  expect(shown).toContain('[secret]')
})

it('shows no secret in failures of the network, of framing and of JSON', async () => {
  const reset = await sockets((socket) => socket.once('data', () => socket.resetAndDestroy()))
  const broken = await service(() => ({ status: 200, body: `<html>${TOKEN}` }))
  for (const { origin } of [reset, broken]) {
    const { client } = clientOf(origin, { retries: 0 })
    const shown = shownBy(await failureOf(client.call(op)))
    for (const form of formsOf(TOKEN)) expect(placesOf(form, shown)).toEqual([])
  }
})

it('attaches nothing that a function of the user threw', async () => {
  const { origin } = await service(() => ({ status: 200 }))
  const value = async () => {
    throw new Error(`no key, only ${TOKEN}`)
  }
  const { client } = clientOf(origin, { credential: { type: 'apiKey', in: 'header', name: 'x-key', value } })
  const error = await failureOf(client.call(op))
  expect(error).toMatchObject({ code: 'CREDENTIAL_SOURCE', attempts: 0 })
  expect(shownBy(error)).not.toContain(TOKEN)
})

it('continues when a listener throws, and reports that to those who want to know', async () => {
  const { origin } = await service(() => ({ status: 200, body: '{"a":1}' }))
  const thrown: unknown[] = []
  const { client } = clientOf(origin)
  const off = client.on('request', () => {
    throw new Error('mine')
  })
  client.on('hookError', ({ event }) => {
    thrown.push(event)
    throw new Error('mine too')
  })
  expect(await client.call(op)).toEqual({ a: 1 })
  off()
  await client.call(op)
  expect(thrown).toEqual(['request'])
})

it('sends the credential to the base URL only', async () => {
  const other = await service(() => ({ status: 200 }))
  const { origin } = await service(() => ({ status: 307, headers: { location: `${other.origin}/v1/things` } }))
  const { client } = clientOf(origin)
  expect(await failureOf(client.call(op))).toMatchObject({
    code: 'REDIRECT_CROSS_ORIGIN',
    name: 'TrustError',
    to: other.origin,
    attempts: 1,
  })
  expect(other.exchanges).toHaveLength(0)
  for (const path of [`${other.origin}/v1`, '//evil.example/', '/../a', '/a/%2e%2E/b', '/a#b', 'a', '/a%2fb', '/a\\b'])
    expect(await failureOf(client.request('GET', path)), path).toMatchObject({ code: 'REQUEST_INVALID', attempts: 0 })
})

/** As servers echo what they were sent: in encodings of their own. */
const ECHOES: readonly ((text: string) => string)[] = [
  (text) => text,
  encodeURIComponent,
  (text) => Buffer.from(text).toString('hex'),
  (text) => Buffer.from(text).toString('hex').toUpperCase(),
  (text) => Buffer.from(text).toString('base64'),
  (text) => text.replace(/[^A-Za-z0-9]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  (text) => [...text].map((char) => `&#${char.codePointAt(0)};`).join(''),
]

it.each(['öffne-dich', 'пароль', '打开芝麻门'])(
  'shows nothing of a password that is not ASCII, though the answer comes in pieces: %s',
  async (password) => {
    const expected = `Basic ${Buffer.from(`ada:${password}`).toString('base64')}`
    const told = ECHOES.flatMap((echo) => [echo(password), echo(`ada:${password}`)]).join(' ')
    const { origin } = await sockets(async (socket) => {
      const [head] = await once(socket, 'data')
      const isRight = new RegExp(`^authorization: ${expected.replaceAll('+', '\\+')}\r$`, 'im').test(String(head))
      const body = Buffer.from(
        JSON.stringify({ message: isRight ? `no: ${told}` : 'wrong password', nested: [{ told }] }).replaceAll('\\\\u', '\\u'),
      )
      socket.write(
        `HTTP/1.1 400 No\r\nx-trace-id: ${encodeURIComponent(password)}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`,
      )
      // Pieces that end within characters, escapes and groups of digits.
      for (let at = 0; at < body.length; at += 7) {
        socket.write(body.subarray(at, at + 7))
        await new Promise((resolve) => setImmediate(resolve))
      }
    })
    const { client } = clientOf(origin, { credential: { type: 'http', scheme: 'basic', username: 'ada', password }, retries: 0 })
    const error = await failureOf<{ body: unknown }>(client.call(op))
    expect(error).toMatchObject({ code: 'HTTP_400', message: expect.stringContaining('no: [secret]') })
    const shown = shownBy(error)
    for (const echo of ECHOES) expect(placesOf(echo(password), shown)).toEqual([])
    expect(JSON.stringify(error.body)).toContain('[secret]')
  },
)
