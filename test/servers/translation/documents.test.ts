import { request as open } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { failureOf } from '../../harness/failure.ts'
import { field, multipart, send, upload } from './known-good.ts'
import { startTranslationFake, type TranslationFake } from './translation-fake.ts'

let fake: TranslationFake
beforeEach(async () => {
  fake = await startTranslationFake({ maxUnfetched: 2, ttlMs: 10_000 })
})
afterEach(() => fake.close())

const statusOf = async (document: Awaited<ReturnType<typeof upload>>) => (await send(fake, 10, document)).json

describe('a document', () => {
  it('a document is queued, translated, done, fetched once and then unknown', async () => {
    const document = await upload(fake, 'Hällo')
    expect(await statusOf(document)).toEqual({ document_id: document.params.document_id, status: 'queued' })
    expect(await send(fake, 11, document)).toMatchObject({ status: 503, json: { message: 'Document is not ready' } })
    fake.clock.advance(1000)
    expect(await statusOf(document)).toMatchObject({ status: 'translating', seconds_remaining: 2 })
    fake.clock.advance(2000)
    expect(await statusOf(document)).toMatchObject({ status: 'done', billed_characters: 5 })
    expect((await send(fake, 28)).json).toMatchObject({ character_count: 0 })
    expect(await send(fake, 11, document)).toMatchObject({
      status: 200,
      text: '[DE] Hällo',
      headers: { 'content-type': 'text/plain', 'content-disposition': 'attachment; filename="a.txt"' },
    })
    await expect.poll(async () => (await send(fake, 28)).json).toMatchObject({ character_count: 5 })
    for (const op of [10, 11])
      expect(await send(fake, op, document)).toMatchObject({ status: 404, json: { message: 'Document not found' } })
    fake.assertClean()
  })

  it.each([{ truncate: 3 }, { resetAfter: 3 }, { resetAfterHeaders: true }])('stays after a download that was cut: %j', async (action) => {
    const document = await upload(fake)
    fake.clock.advance(3000)
    fake.script({ match: { op: 11 }, do: action })
    expect(await failureOf(send(fake, 11, document))).toMatchObject({ code: 'ECONNRESET' })
    await expect.poll(() => fake.log.at(-1)?.aborted).toBe(true)
    expect(await statusOf(document)).toMatchObject({ status: 'done' })
    expect((await send(fake, 11, document)).text).toBe('[DE] Hello')
    fake.assertClean()
  })

  it('stays when the caller goes away in the middle', async () => {
    const document = await upload(fake, 'x'.repeat(1_000_000))
    fake.clock.advance(3000)
    fake.script({ match: { op: 11 }, do: { dripBody: { bytes: 1000, everyMs: 1 } } })
    await new Promise<void>((resolve) => {
      const body = JSON.stringify(document.json)
      const headers = { 'User-Agent': 'test', Authorization: 'DeepL-Auth-Key test-pro', 'Content-Type': 'application/json' }
      const request = open(`${fake.url}/v2/document/${document.params.document_id}/result`, { method: 'POST', headers }, (response) => {
        response.once('data', () => {
          response.destroy()
          resolve()
        })
      })
      request.end(body)
    })
    await expect.poll(() => fake.log.at(-1)?.aborted).toBe(true)
    expect(await statusOf(document)).toMatchObject({ status: 'done' })
  })

  it('a document is opened by its key alone, also in a form', async () => {
    const { params, json } = await upload(fake)
    expect((await send(fake, 10, { params, json: { document_key: 'A'.repeat(64) } })).status).toBe(404)
    expect((await send(fake, 10, { params: { document_id: '0'.repeat(32) }, json })).status).toBe(404)
    const form = { body: `document_key=${json.document_key}`, type: 'application/x-www-form-urlencoded' }
    expect((await send(fake, 10, { params, ...form })).status).toBe(200)
  })

  it('a document may fail, be thrown away, or be gone silently', async () => {
    const [failed, late] = [await upload(fake), await upload(fake)]
    const of = ({ params }: typeof failed) => fake.state.documents.get(params.document_id) ?? expect.fail()
    of(failed).failure = 'Too many pages'
    fake.clock.advance(3000)
    expect(await statusOf(failed)).toMatchObject({ status: 'error', error_message: 'Too many pages', message: 'Too many pages' })
    expect((await send(fake, 11, failed)).status).toBe(404)
    of(late).goneAs503 = true
    expect(await send(fake, 11, late)).toMatchObject({ status: 503, json: { message: 'Document already downloaded' } })
    expect((await send(fake, 10, late)).status).toBe(404)
    const forgotten = await upload(fake)
    fake.clock.advance(13_000)
    expect((await send(fake, 10, forgotten)).status).toBe(404)
  })

  it('waits with few others only', async () => {
    await upload(fake)
    await upload(fake)
    expect((await send(fake, 9, multipart({ target_lang: 'DE' }, { name: 'a.txt', content: 'x' }))).status).toBe(429)
    fake.clock.advance(13_000)
    expect(field(await send(fake, 9, multipart({ target_lang: 'DE' }, { name: 'a.txt', content: 'x' })), 'document_id')).toMatch(
      /^[\dA-F]{32}$/,
    )
  })

  it('a document has a name with quotes, and the parts in their order', async () => {
    const sent = multipart({ target_lang: 'DE', output_format: 'docx' }, { name: 'a%22 ä.pdf', content: 'x' })
    const id = field(await send(fake, 9, sent), 'document_id')
    const { filename, parts, outputExtension, key } = fake.state.documents.get(id) ?? expect.fail()
    expect([filename, parts, outputExtension]).toEqual(['a" ä.pdf', ['target_lang', 'output_format', 'file'], 'docx'])
    fake.clock.advance(3000)
    const { headers } = await send(fake, 11, { params: { document_id: id }, json: { document_key: key } })
    expect(headers['content-disposition']).toBe(`attachment; filename="a\\" _.docx"; filename*=UTF-8''a%22%20%C3%A4.docx`)
  })

  it('shows whether it came in pieces', async () => {
    const { body = '', type = '' } = multipart({ target_lang: 'DE' }, { name: 'a.txt', content: 'x' })
    await new Promise<void>((resolve) => {
      const headers = { 'User-Agent': 'test', Authorization: 'DeepL-Auth-Key test-pro', 'Content-Type': type }
      const request = open(`${fake.url}/v2/document`, { method: 'POST', headers }, (response) => {
        response.resume().once('end', resolve)
      })
      request.write(String(body).slice(0, 20))
      setTimeout(() => request.end(String(body).slice(20)), 30)
    })
    const [entry] = fake.log
    expect([entry?.status, entry?.headers['transfer-encoding'], entry?.chunks.map(({ bytes }) => bytes)]).toEqual([
      200,
      'chunked',
      [20, String(body).length - 20],
    ])
  })
})
