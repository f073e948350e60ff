import { expect, it } from 'vitest'
import { TranslationClient } from '../../../src/services/translation/translation-client.ts'
import { canaryOf, cloned, leaks, shown } from '../../harness/canary.ts'
import { failureOf } from '../../harness/failure.ts'
import { HELLO, TXT } from './document-place.ts'
import { fakeClient } from './fake-client.ts'

const KEY = 'kEy/8c1f+2e"7b9d'
const keys = { [KEY]: { plan: 'pro', role: 'developer' } } as const

it('shows no key in any object, error or event, although the service repeats both keys', async () => {
  const { client, fake, clock } = await fakeClient({ fake: { keys }, apiKey: KEY })
  const heard: unknown[] = []
  for (const event of ['request', 'response', 'retry', 'queue', 'warning', 'progress', 'hookError'] as const)
    client.on(event, (payload) => heard.push(payload))
  const handle = await client.documents.upload(HELLO, TXT)
  const { document_key: documentKey } = handle.export()
  const echo = (status: number) => {
    const said = `${KEY} ${documentKey} ${btoa(KEY)} ${encodeURIComponent(KEY)}`
    return {
      status,
      headers: { 'X-Trace-ID': KEY, 'X-Other': documentKey },
      body: { message: said, detail: said, code: said, all: [said] },
    }
  }
  const errors: unknown[] = []
  for (const status of [400, 403, 404, 429, 456, 500, 503]) {
    fake.script({ match: { op: 10 }, times: 5, do: echo(status) })
    errors.push(await clock.run(failureOf(client.documents.status(handle, { retry: { retries: 4 } }))))
    fake.reset()
  }
  // The reset has forgotten the document.
  errors.push(await clock.run(failureOf(client.documents.resume(handle, undefined))))
  fake.script({ match: { op: 10 }, do: { status: 200, body: { status: 'error', error_message: `the key ${documentKey}` } } })
  errors.push(await clock.run(failureOf(client.documents.wait(handle))))
  const others = { client, withCredential: client.withCredential('other-key-123456'), handle, response: handle.response, heard }
  const places = { ...others, ...Object.fromEntries(errors.map((error, index) => [`error ${index}`, error])) }
  const texts = Object.fromEntries(
    Object.entries(places).flatMap(([name, value]) => [
      [name, shown(value)],
      [`${name} cloned`, cloned(value)],
    ]),
  )
  expect(
    leaks(
      [KEY, documentKey, 'other-key-123456'].map((value) => canaryOf(value)),
      texts,
    ),
  ).toEqual([])
  expect(texts.handle).toContain('[secret]')
  expect(heard.length).toBeGreaterThan(10)
})

it('does not quote an answer that names the key of a document, when it cannot be read', async () => {
  const { client, fake } = await fakeClient()
  const secret = 'F00DBABE7788'
  for (const body of [`{"document_key":"${secret}"`, `["${secret}"]`, `{"document_id":1,"document_key":"${secret}"}`]) {
    fake.script({ match: { op: 9 }, do: { status: 200, body } })
    const error = await failureOf(client.documents.upload(HELLO, TXT))
    expect(error).toMatchObject({ code: 'RESPONSE_INVALID' })
    expect(leaks([canaryOf(secret)], { error: shown(error) })).toEqual([])
  }
})

it('sends the key to its own origin only', async () => {
  const { fake: other } = await fakeClient()
  const { client, fake } = await fakeClient()
  for (const status of [301, 302, 307, 308]) {
    fake.script({ do: { redirect: { status, location: `${other.url}/v2/usage` } } })
    expect(await failureOf(client.usage())).toMatchObject({ code: 'REDIRECT_CROSS_ORIGIN', name: 'TrustError' })
  }
  fake.script({ match: { op: 11 }, do: { redirect: { status: 302, location: `${other.url}/v2/usage` } } })
  const handle = await client.documents.upload(HELLO, TXT)
  expect(await failureOf(client.documents.download(handle, undefined))).toMatchObject({ code: 'REDIRECT_CROSS_ORIGIN', handle })
  expect(other.requests()).toBe(0)
})

it('keeps a document identifier in its place of the path', async () => {
  const { client, fake } = await fakeClient()
  const handle = (document_id: string) => ({ document_id, document_key: 'some-document-key' })
  expect(await failureOf(client.documents.status(handle('../usage?x=1#')))).toMatchObject({ code: 'HTTP_404' })
  expect(fake.log[0]?.rawUrl).toBe('/v2/document/..%2Fusage%3Fx%3D1%23')
  for (const id of ['', '.', '..', 'a%2Fb', 'a\\b', 'a\0'])
    expect(await failureOf(client.documents.status(handle(id)))).toMatchObject({ code: 'REQUEST_INVALID', attempts: 0 })
})

it('a client prints without its key', () => {
  const client = new TranslationClient({ apiKey: KEY })
  expect(JSON.stringify(client)).toBe('{"origin":"https://api.deepl.com"}')
  expect(leaks([canaryOf(KEY)], { client: shown(client) + shown({ client }) })).toEqual([])
})
