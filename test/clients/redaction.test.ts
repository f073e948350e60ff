import diagnostics from 'node:diagnostics_channel'
import { inspect } from 'node:util'
import { expect, it } from 'vitest'
import { HttpError } from '../../src/clients/errors.ts'
import type { Hooks } from '../../src/clients/events.ts'
import { clientOf, failureOf, operation, service, sockets, TOKEN } from './service.ts'

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
    const { client } = clientOf(origin, { maxRetries: 0 })
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

it('goes on when a listener throws, and tells that to those who want to know', async () => {
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

it('sends the credential to the base address only', async () => {
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
