import { createReadStream, createWriteStream } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { DocumentParams, DocumentSource } from '../../../src/services/translation/document-upload.ts'
import { temporaryFolder } from '../../cli/folder.ts'
import { failureOf } from '../../harness/failure.ts'
import { HELLO, place, stream, TXT } from './document-place.ts'
import { fakeClient } from './fake-client.ts'

const folder = await temporaryFolder()

it('uploads, waits and fetches once, from file to file', async () => {
  const { client, fake, clock } = await fakeClient()
  const { source, sink, files } = await place()
  const states: unknown[] = []
  client.on('progress', ({ operation, ...progress }) => {
    if (operation === 'documents.status') states.push(progress.status)
  })
  const fetched = await clock.run(client.documents.translate(source, sink, { target_lang: 'DE' }))
  expect(await readFile(sink.path, 'utf8')).toBe('[DE] Hello')
  expect(await files()).toEqual(['a.de.txt', 'a.txt'])
  expect(fetched).toMatchObject({ filename: 'a.txt', contentType: 'text/plain', bytes: undefined, status: { billed_characters: 5 } })
  expect([...new Set(states)]).toEqual(['queued', 'translating', 'done'])
  expect([9, 11].map((op) => fake.requests(op))).toEqual([1, 1])
  const [upload] = fake.log
  expect(upload?.headers).toMatchObject({ 'content-length': String(upload?.bodyBytes.length) })
  expect(upload?.body).toMatch(/name="target_lang"[\s\S]*name="file"; filename="a.txt"/)
  expect(clock.pending('wait')).toBe(0)
})

it.each<readonly [string, () => DocumentSource, boolean]>([
  ['bytes', () => HELLO, true],
  ['a Blob', () => new Blob([HELLO]), true],
  ['a File', () => new File([HELLO], 'b.txt'), true],
  ['a stream', stream, false],
  ['a web stream', () => new Blob([HELLO]).stream(), false],
  ['a function that makes a stream', () => stream, false],
])('takes %s', async (_name, source, known) => {
  const { client, fake, clock } = await fakeClient()
  const { bytes } = await clock.run(client.translateDocument(source(), undefined, TXT))
  expect(Buffer.from(bytes ?? []).toString()).toBe('[DE] Hello')
  expect(fake.log[0]?.headers[known ? 'content-length' : 'transfer-encoding']).toBeDefined()
})

it('reads a stream of a file, and not the file of its path', async () => {
  const { client, fake } = await fakeClient()
  const { source } = await place()
  await client.documents.upload(createReadStream(source.path, { start: 1, end: 3 }), TXT)
  expect(fake.log[0]?.body).toContain('\r\n\r\nell\r\n--')
})

it('a stream that fails before it is read ends the call, not the process', async () => {
  const { client } = await fakeClient()
  const missing = () => createReadStream(join(folder, 'missing.txt'))
  const bodies = [missing(), missing]
  const calls = bodies.flatMap((body) => [client.documents.upload(body, TXT), client.request('POST', '/v2/document', { body })])
  for (const error of await Promise.all(calls.map(failureOf))) expect(error).toMatchObject({ code: 'CONFIG_INVALID', attempts: 1 })
})

it('names the parts of an upload as they must be named, and files as they are called', async () => {
  const { client, fake } = await fakeClient()
  const memory = fake.state.memories[0]?.translation_memory_id
  const params = { ...TXT, source_lang: 'EN', formality: 'more', output_format: 'docx', enable_beta_languages: false }
  const filename = 'ü "a"\r\n.pdf'
  await client.documents.upload(HELLO, { ...params, filename, translation_memory_id: memory, translation_memory_threshold: 80.5 })
  const [stored] = fake.state.documents.values()
  expect(stored).toMatchObject({ filename, target: 'DE', content: Buffer.from('Hello') })
  expect(stored?.parts.at(-1)).toBe('file')
  expect(stored?.parts.slice(0, -1).sort()).toEqual(
    [...Object.keys(params).filter((name) => name !== 'filename'), 'translation_memory_id', 'translation_memory_threshold'].sort(),
  )
})

it.each<readonly [string, DocumentSource, Partial<DocumentParams>, object, object]>([
  ['a document without a name', HELLO, { filename: undefined }, {}, { code: 'REQUEST_INVALID', field: 'filename' }],
  ['a glossary without a source language', HELLO, { glossary_id: 'g' }, {}, { code: 'REQUEST_INVALID', field: 'source_lang' }],
  ['a field that is given twice', HELLO, {}, { extraBody: { target_lang: 'FR' } }, { code: 'REQUEST_INVALID' }],
  ['a second file', HELLO, {}, { extraBody: { file: 'x' } }, { code: 'REQUEST_INVALID' }],
  ['a file that is not there', { path: join(folder, 'nowhere.txt') }, {}, {}, { code: 'FILE_ACCESS' }],
  ['a folder', { path: folder }, {}, {}, { code: 'FILE_ACCESS' }],
  ['a device that never ends', { path: '/dev/zero' }, {}, {}, { code: 'FILE_ACCESS' }],
])('refuses %s before anything is sent', async (_name, source, params, options, error) => {
  const { client, fake } = await fakeClient()
  const refused = client.documents.upload(source, { ...TXT, ...params }, options)
  expect(await failureOf(refused)).toMatchObject({ ...error, operation: 'documents.upload', attempts: 0 })
  expect(fake.log).toHaveLength(0)
})

it('refuses a place that is taken before anything is paid for, and replaces it on request', async () => {
  const { client, fake, clock } = await fakeClient()
  const { source, sink } = await place()
  await writeFile(sink.path, 'old')
  for (const wrong of [sink, { path: folder }, { path: join(folder, 'none', 'a.txt') }])
    expect(await failureOf(client.documents.translate(source, wrong, TXT))).toMatchObject({
      name: 'IntegrityError',
      operation: 'documents.translate',
      attempts: 0,
    })
  expect(fake.log).toHaveLength(0)
  expect(await readFile(sink.path, 'utf8')).toBe('old')
  await clock.run(client.documents.translate(source, { ...sink, overwrite: true }, TXT))
  expect(await readFile(sink.path, 'utf8')).toBe('[DE] Hello')
})

it('refuses a stream of Node as output, whose path is that of a file that it creates itself', async () => {
  const { client, fake } = await fakeClient()
  const { source, sink } = await place()
  const written = createWriteStream(sink.path)
  await expect(client.documents.translate(source, written as never, TXT)).rejects.toThrow(
    new TypeError('the output must be { path } or a WritableStream'),
  )
  expect(fake.log).toHaveLength(0)
  await new Promise((resolve) => written.end(resolve))
})

it('never uploads twice once the upload has begun, and again when it was refused', async () => {
  const { client, fake, clock } = await fakeClient()
  fake.script({ match: { op: 9 }, do: { resetBefore: true } })
  expect(await failureOf(client.documents.upload(HELLO, TXT))).toMatchObject({ code: 'NETWORK_RESET', sent: true, attempts: 1 })
  fake.script({ match: { op: 9 }, do: { status: 500 } })
  expect(await failureOf(client.documents.upload(HELLO, TXT))).toMatchObject({ code: 'HTTP_500', attempts: 1 })
  fake.script({ match: { op: 9 }, do: { status: 429 } })
  expect((await clock.run(client.documents.upload(HELLO, TXT))).response.attempts).toBe(2)
  fake.script({ match: { op: 9 }, do: { status: 429 } })
  expect(await failureOf(client.documents.upload(stream(), TXT))).toMatchObject({ code: 'HTTP_429', attempts: 1 })
  expect(fake.requests(9)).toBe(5)
})

it('notices a file that has changed since it was measured', async () => {
  const { client, fake } = await fakeClient()
  const blob = new Blob(['abc'])
  for (const content of ['ab', 'abcd']) {
    const liar = Object.create(blob, { size: { value: 3 }, stream: { value: () => new Blob([content]).stream() } }) as Blob
    expect(await failureOf(client.documents.upload(liar, TXT))).toMatchObject({ code: 'FILE_CHANGED', attempts: 1 })
  }
  expect(fake.state.documents.size).toBe(0)
})
