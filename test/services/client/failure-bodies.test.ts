/** What a failure's body is like must not hide its status. */

import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { failureOf } from '../../harness/failure.ts'
import { clientOf, operation, service } from './service.ts'

const safe = operation('safe', 'GET')
const gzip = { 'content-encoding': 'gzip' }

it.each([
  ['is no gzip', 404, gzip, Buffer.from('plain text')],
  ['is cut short', 503, gzip, gzipSync('a text that is worth compressing '.repeat(100)).subarray(0, 40)],
  ['unfolds to far more than is kept', 403, gzip, gzipSync(Buffer.alloc(10 * 2 ** 20))],
  ['is too long before it unfolds', 400, gzip, Buffer.alloc(2 ** 20, 'x')],
  ['has more codings than anybody needs', 409, { 'content-encoding': 'gzip, gzip, gzip' }, Buffer.from('x')],
])('a body that %s leaves the status %i', async (_what, status, headers, body) => {
  const { origin } = await service(() => ({ status, headers, body }))
  const { client } = clientOf(origin)
  expect(await failureOf(client.call(safe, {}, { retry: false }))).toMatchObject({ code: `HTTP_${status}`, attempts: 1 })
})

it('a body of a failure that can be unpacked is still told', async () => {
  const { origin } = await service(() => ({ status: 404, headers: gzip, body: gzipSync('{"message":"no such thing"}') }))
  expect(await failureOf(clientOf(origin).client.call(safe))).toMatchObject({ message: expect.stringContaining('no such thing') })
})

it('a success that cannot be unpacked is a failure', async () => {
  const { origin } = await service(() => ({ status: 200, headers: gzip, body: gzipSync('{"a":1}').subarray(0, 15) }))
  expect(await failureOf(clientOf(origin).client.call(safe, {}, { retry: false }))).toMatchObject({ code: 'RESPONSE_TRUNCATED' })
})

it('shows the detail of a service after its message', async () => {
  const detail = 'Missing required scope(s): translate:text'
  const { origin } = await service(() => ({ status: 403, body: JSON.stringify({ message: 'Forbidden', detail }) }))
  const error = await failureOf(clientOf(origin).client.call(safe))
  expect(error).toMatchObject({
    message: expect.stringMatching(/answered 403: Forbidden: Missing required scope\(s\): translate:text$/),
    detail,
  })
})

it.each([
  ['XML', '<Error><Message>no such thing</Message></Error>'],
  ['a list of errors', '{"errors":["no such thing"]}'],
  ['a JSON text', '"no such thing"'],
  ['a line', 'no such thing'],
])('shows the reason in %s, on the line of the message', async (_shape, body) => {
  const { origin } = await service(() => ({ status: 400, body }))
  expect(await failureOf(clientOf(origin).client.call(safe))).toMatchObject({
    message: expect.stringMatching(/answered 400: no such thing$/),
  })
})

it('removes a secret from the words of a body that hides it by escapes', async () => {
  const escaped = [...'top-secret-key'].map((char) => `\\u00${char.charCodeAt(0).toString(16)}`).join('')
  const { origin } = await service(() => ({ status: 400, body: `{"errors":{"key":["${escaped} is wrong"]}}` }))
  const { client } = clientOf(origin)
  client.protect('top-secret-key')
  expect(await failureOf(client.call(safe))).toMatchObject({ message: expect.stringMatching(/key: \[secret\] is wrong$/) })
})
