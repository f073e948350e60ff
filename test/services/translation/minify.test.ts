import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as fflate from 'fflate'
import { expect, it } from 'vitest'
import type { HttpRequest, HttpResponse } from '../../../src/http/message.ts'
import type { Zip } from '../../../src/platform/platform.ts'
import { ServiceLimits } from '../../../src/services/client/pacer.ts'
import { minified } from '../../../src/services/translation/minify.ts'
import { TranslationClient } from '../../../src/services/translation/translation-client.ts'
import { temporaryFolder } from '../../cli/folder.ts'
import { failureOf } from '../../harness/failure.ts'
import { FakeClock } from '../../harness/fake-clock.ts'

const zip: Zip = fflate
const { strFromU8: text, strToU8: bytes, unzipSync } = fflate
/** Random, so that it is as large in the archive. */
const PICTURE = crypto.getRandomValues(new Uint8Array(60_000))
const PARTS = { '[Content_Types].xml': bytes('<Types/>'), 'word/document.xml': bytes('<t>Hello</t>') }
const DOCX = fflate.zipSync({ ...PARTS, 'word/media/image1.PNG': [PICTURE, { level: 0 }], 'word/media/clip.mp4': bytes('clip') })

/** Translates the text of .docx documents of up to 2000 bytes and refuses larger ones, as a service with a limit does. */
function service(answer = (uploaded: Uint8Array) => translated(uploaded)) {
  const uploads: Uint8Array[] = []
  const transport = async ({ url, body }: HttpRequest): Promise<HttpResponse> => {
    if (url.endsWith('/v2/document')) {
      uploads.push(uploadedFile(body as Uint8Array))
      if ((uploads[0]?.length ?? 0) > 2000) return response(url, 413, bytes('{"message":"too large"}'))
      return response(url, 200, bytes('{"document_id":"1","document_key":"secret-key"}'))
    }
    if (url.endsWith('/result')) return response(url, 200, answer(uploads[0] ?? PICTURE))
    return response(url, 200, bytes('{"document_id":"1","status":"done"}'))
  }
  const clock = new FakeClock({ waits: 'in turn' })
  const limits = new ServiceLimits({ clock, random: clock.random })
  return { uploads, client: new TranslationClient({ apiKey: 'key', plan: 'pro', transport, limits }) }
}

function translated(uploaded: Uint8Array): Uint8Array {
  const files = unzipSync(uploaded)
  return fflate.zipSync({ ...files, 'word/document.xml': bytes(text(files['word/document.xml'] ?? PICTURE).replace('Hello', 'Hallo')) })
}

function uploadedFile(body: Uint8Array): Uint8Array {
  const whole = Buffer.from(body)
  const start = whole.indexOf('\r\n\r\n', whole.indexOf('name="file"')) + 4
  return whole.subarray(start, whole.lastIndexOf('\r\n--'))
}

function response(url: string, status: number, content: Uint8Array): HttpResponse {
  const all = async () => content
  const headers = new Headers({ 'content-type': 'application/json' })
  const toResponse = () => new Response(content as BodyInit)
  return { status, url, headers, bytes: all, text: async () => text(content), discard: async () => {}, toResponse }
}

it('a document with large pictures is uploaded without them and gets them back, in files and as bytes', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'a.docx'), DOCX)
  const { client, uploads } = service()
  const sink = { path: join(folder, 'a.de.docx') }
  await client.translateDocument({ path: join(folder, 'a.docx') }, sink, { target_lang: 'DE' }, { minify: true })
  const upload = unzipSync(uploads[0] ?? PICTURE)
  expect([text(upload['word/media/image1.PNG'] ?? PICTURE), text(upload['word/document.xml'] ?? PICTURE)]).toEqual([
    'media',
    '<t>Hello</t>',
  ])
  expect(unzipSync(await readFile(sink.path))).toEqual({
    ...{ ...PARTS, 'word/document.xml': bytes('<t>Hallo</t>') },
    ...{ 'word/media/image1.PNG': PICTURE, 'word/media/clip.mp4': bytes('clip') },
  })
  const other = service()
  const fetched = await other.client.translateDocument(DOCX, undefined, { target_lang: 'DE', filename: 'a.docx' }, { minify: zip })
  expect(unzipSync(fetched.bytes ?? PICTURE)).toEqual(unzipSync(await readFile(sink.path)))
})

it('a minified document is resumed with its source', async () => {
  const { client } = service()
  const handle = await client.documents.upload(minified(DOCX, zip).bytes, { target_lang: 'DE', filename: 'a.docx' })
  const { bytes: content } = await client.documents.resume(handle.export(), undefined, { minify: true, source: DOCX })
  expect(unzipSync(content ?? DOCX)['word/media/image1.PNG']).toEqual(PICTURE)
})

it.each([
  ['a document of another format', 'a.txt', bytes('Hello')],
  ['a document without media', 'a.docx', fflate.zipSync(PARTS)],
])('%s is uploaded as it is', async (_name, filename, source) => {
  const { client, uploads } = service(() => bytes('Hallo'))
  await client.translateDocument(source, undefined, { target_lang: 'DE', filename }, { minify: true })
  expect(new Uint8Array(uploads[0] ?? [])).toEqual(source)
})

it.each([
  ['no archive', bytes('Hello'), 'is not a readable archive'],
  ['an archive that was cut', DOCX.subarray(0, -30), 'is not a readable archive'],
  ['a part outside of it', fflate.zipSync({ ...PARTS, '../a.png': PICTURE }), 'a part whose name is not allowed'],
  ['a part with a drive', fflate.zipSync({ ...PARTS, 'C:\\a.png': PICTURE }), 'a part whose name is not allowed'],
  ['an absolute part', fflate.zipSync({ ...PARTS, '/word/a.png': PICTURE }), 'a part whose name is not allowed'],
  ['a part twice', fflate.zipSync({ ...PARTS, 'WORD/document.xml': PICTURE }), 'a part whose name is not allowed'],
])('%s is refused before anything is sent', async (_name, source, why) => {
  const { client, uploads } = service()
  const call = client.translateDocument(source, undefined, { target_lang: 'DE', filename: 'a.docx' }, { minify: true })
  expect(await failureOf(call)).toMatchObject({ code: 'REQUEST_INVALID', field: 'source', message: expect.stringContaining(why) })
  expect(uploads).toEqual([])
})

it('an archive that says it expands to more than 1 GiB is refused before it is expanded', () => {
  const bomb = fflate.zipSync({ 'word/media/a.png': new Uint8Array(1000) })
  const view = new DataView(bomb.buffer, bomb.byteOffset)
  const entry = Buffer.from(bomb).lastIndexOf('PK\u0001\u0002')
  view.setUint32(entry + 24, 2 ** 30 + 1, true)
  expect(() => minified(bomb, zip)).toThrow(expect.objectContaining({ code: 'REQUEST_TOO_LARGE', limit: 2 ** 30 }))
})

it('the media cannot be put back into another format, nor into a translation that is no archive', async () => {
  const { client, uploads } = service(() => bytes('<html>'))
  const params = { target_lang: 'DE', filename: 'a.docx' }
  const other = client.translateDocument(DOCX, undefined, { ...params, output_format: 'pdf' }, { minify: true })
  expect(await failureOf(other)).toMatchObject({ code: 'REQUEST_INVALID', field: 'output_format' })
  expect(uploads).toEqual([])
  const broken = client.translateDocument(DOCX, undefined, params, { minify: true })
  expect(await failureOf(broken)).toMatchObject({ code: 'RESPONSE_INVALID', message: expect.stringContaining('media cannot be put back') })
})
