/** How many connections the clients open: each one costs a handshake, and some servers allow few. */

import { expect, it } from 'vitest'
import { failureOf } from '../../harness/failure.ts'
import { timeTracking, clientOf as timeTrackingClient } from '../time-tracking/service.ts'
import { HELLO, stream, TXT } from '../translation/document-place.ts'
import { fakeClient } from '../translation/fake-client.ts'

it('uses one connection for sequential calls of all operations, downloads of documents included', async () => {
  const { client, fake, clock } = await fakeClient()
  await client.translateText({ text: 'Hello', target_lang: 'DE' })
  await client.usage()
  const handle = await client.documents.upload(stream, TXT)
  await clock.run(client.documents.wait(handle))
  expect((await client.documents.download(handle, undefined)).bytes).toHaveLength(10)
  await client.translateText({ text: 'Hello', target_lang: 'DE' })
  await clock.run(client.documents.translate(HELLO, undefined, TXT))
  await client.usage()
  expect(fake.sockets()).toBe(1)
})

it('uses the connection again after small error responses and after DOCUMENT_GONE', async () => {
  const { client, fake, clock } = await fakeClient()
  for (const status of [400, 403, 404, 429, 456, 500, 503]) {
    fake.script({ match: { op: 8 }, do: { status, body: { message: 'refused' } } })
    const call = client.translateText({ text: 'Hello', target_lang: 'DE' }, { retry: false })
    expect(await clock.run(failureOf(call))).toMatchObject({ status })
  }
  const { handle } = await clock.run(client.documents.translate(HELLO, undefined, TXT))
  expect(await failureOf(client.documents.download(handle, undefined))).toMatchObject({ code: 'DOCUMENT_GONE' })
  expect(await failureOf(client.documents.status(handle))).toMatchObject({ code: 'HTTP_404' })
  await client.usage()
  expect(fake.sockets()).toBe(1)
})

it('uses one connection for sequential calls of the time-tracking client, refused ones included', async () => {
  const service = await timeTracking()
  const { client } = timeTrackingClient(service)
  for (let call = 0; call < 3; call++) {
    await client.projects.list()
    expect(await failureOf(client.projects.get(999_999))).toMatchObject({ code: 'HTTP_404' })
  }
  expect(service.sockets()).toBe(1)
})
