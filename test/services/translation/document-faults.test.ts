import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { exitCodeOf } from '../../../src/cli/exit-code.ts'
import { failureOf } from '../../harness/failure.ts'
import { HELLO, place, TXT } from './document-place.ts'
import { fakeClient } from './fake-client.ts'

it.each([
  ['is cut short', { truncate: 3 }],
  ['is reset', { resetAfter: 3 }],
])('makes an error and no file of a document that %s, and does not request it again', async (_name, action) => {
  const { client, fake, clock } = await fakeClient()
  const { source, sink, files } = await place()
  fake.script({ match: { op: 11 }, do: action })
  const error = await clock.run(failureOf(client.documents.translate(source, sink, TXT)))
  const named = { operation: 'documents.download', attempts: 1, handle: { document_id: expect.any(String) } }
  expect(error).toMatchObject({ code: 'RESPONSE_TRUNCATED', ...named })
  expect(await files()).toEqual(['a.txt'])
  expect(fake.requests(11)).toBe(1)
  fake.script({ match: { op: 11 }, do: action })
  expect(await clock.run(failureOf(client.documents.translate(source, undefined, TXT)))).toMatchObject({ code: 'RESPONSE_TRUNCATED' })
  const written: Uint8Array[] = []
  let aborted = false
  const writable = new WritableStream<Uint8Array>({
    write: (chunk) => void written.push(chunk),
    abort: () => {
      aborted = true
    },
  })
  fake.script({ match: { op: 11 }, do: action })
  expect(await clock.run(failureOf(client.documents.translate(source, writable, TXT)))).toMatchObject({ code: 'RESPONSE_TRUNCATED' })
  expect(aborted).toBe(true)
})

it('continues with a document by its handle, also by one that was kept as text', async () => {
  const { client, fake, clock } = await fakeClient()
  const { sink, files } = await place()
  const handle = await client.documents.upload(HELLO, TXT)
  const kept = JSON.parse(JSON.stringify(handle.export()))
  const fetched = await clock.run(client.documents.resume(kept, sink))
  expect(fetched.handle.document_id).toBe(handle.document_id)
  expect(await files()).toContain('a.de.txt')
  expect(await failureOf(client.documents.status(handle))).toMatchObject({ code: 'HTTP_404', name: 'NotFoundError' })
  expect(fake.state.billed).toMatchObject([{ kind: 'document_translation', characters: 5 }])
  expect(await failureOf(client.documents.resume({ ...kept, document_key: 'wrong' }, undefined))).toMatchObject({ code: 'HTTP_404' })
  expect(await failureOf(client.documents.resume({ document_id: 'a' } as never, undefined))).toBeInstanceOf(TypeError)
})

it('reports three kinds of not being there apart', async () => {
  const { client, fake, clock } = await fakeClient()
  const early = await client.documents.upload(HELLO, TXT)
  expect(await failureOf(client.documents.download(early, undefined))).toMatchObject({
    code: 'DOCUMENT_NOT_READY',
    state: 'queued',
    retryable: true,
  })
  const stored = () => [...fake.state.documents.values()].at(-1)
  const failed = await client.documents.upload(HELLO, TXT)
  Object.assign(stored() ?? {}, { failure: 'Source and target language are equal.' })
  const failure = { code: 'DOCUMENT_FAILED', message: expect.stringContaining('Source and target'), handle: failed }
  expect(await clock.run(failureOf(client.documents.resume(failed, undefined)))).toMatchObject(failure)
  const gone = await client.documents.upload(HELLO, TXT)
  Object.assign(stored() ?? {}, { goneAs503: true })
  expect(await clock.run(failureOf(client.documents.resume(gone, undefined)))).toMatchObject({ code: 'DOCUMENT_GONE', handle: gone })
  expect(fake.requests(9)).toBe(3)
})

it('reports DOCUMENT_GONE to the second download of a document, by its handle and by an exported one', async () => {
  const { client, fake, clock } = await fakeClient()
  const { handle } = await clock.run(client.documents.translate(HELLO, undefined, TXT))
  const gone = { code: 'DOCUMENT_GONE', name: 'DocumentError', hint: expect.stringContaining('upload it again'), cause: { status: 404 } }
  expect(await failureOf(client.documents.download(handle, undefined))).toMatchObject({ ...gone, attempts: 1 })
  expect(await failureOf(client.documents.download(handle.export(), undefined))).toMatchObject(gone)
  expect(await clock.run(failureOf(client.documents.resume(handle, undefined)))).toMatchObject({ ...gone, handle })
  expect(exitCodeOf('DOCUMENT_GONE')).toBe(5)
  fake.script({ match: { op: 11 }, do: { status: 503 } })
  expect(await failureOf(client.documents.download(handle, undefined))).toMatchObject({ code: 'DOCUMENT_GONE', cause: { status: 503 } })
})

it('reports DOCUMENT_GONE to the download of a document that another process downloaded', async () => {
  const { client, fake, clock } = await fakeClient()
  const handle = await client.documents.upload(HELLO, TXT)
  await clock.run(client.documents.wait(handle))
  fake.state.documents.clear()
  expect(await failureOf(client.documents.download(handle, undefined))).toMatchObject({ code: 'DOCUMENT_GONE', attempts: 2 })
})

it('DOCUMENT_GONE is not said for a wrong id or key, nor while the service still has the document', async () => {
  const { client, fake, clock } = await fakeClient()
  const { handle } = await clock.run(client.documents.translate(HELLO, undefined, TXT))
  const { document_id, document_key } = handle.export()
  for (const wrong of [
    { document_id, document_key: 'wrong' },
    { document_id: document_id.replaceAll(/./g, '0'), document_key },
  ])
    expect(await failureOf(client.documents.download(wrong, undefined))).toMatchObject({ code: 'HTTP_404', name: 'NotFoundError' })
  const failed = await client.documents.upload(HELLO, TXT)
  Object.assign([...fake.state.documents.values()].at(-1) ?? {}, { failure: 'Equal languages.' })
  await failureOf(clock.run(client.documents.wait(failed)))
  expect(await failureOf(client.documents.download(failed, undefined))).toMatchObject({ code: 'DOCUMENT_FAILED' })
  const present = await client.documents.upload(HELLO, TXT)
  await clock.run(client.documents.wait(present))
  fake.script({ match: { op: 11 }, do: { status: 404 } })
  expect(await failureOf(client.documents.download(present, undefined))).toMatchObject({ code: 'HTTP_404' })
  expect((await client.documents.download(present, undefined)).bytes).toHaveLength(10)
})

it('asks again when a document is not ready although it was said to be done', async () => {
  const { client, fake, clock } = await fakeClient()
  fake.script({ match: { op: 11 }, times: 2, do: { status: 503 } })
  const { bytes } = await clock.run(client.documents.translate(HELLO, undefined, TXT))
  expect(bytes).toHaveLength(10)
  fake.script({ match: { op: 11 }, times: 5, do: { status: 503 } })
  expect(await clock.run(failureOf(client.documents.translate(HELLO, undefined, TXT)))).toMatchObject({ code: 'DOCUMENT_NOT_READY' })
})

it('refuses a document that is no longer done', async () => {
  const { client, fake, clock } = await fakeClient()
  const handle = await client.documents.upload(HELLO, TXT)
  fake.script({ match: { op: 10 }, do: { status: 200, body: { document_id: 'x', status: 'done' } } })
  expect(await clock.run(failureOf(client.documents.resume(handle, undefined)))).toMatchObject({ code: 'RESPONSE_INVALID', handle })
})

it('waits as long as the service says, within reason, and continues after an unknown state', async () => {
  const { client, fake, clock } = await fakeClient({ fake: { queueMs: 0, translateMs: 300_000, secondsRemaining: 2 ** 27 } })
  const warnings: string[] = []
  client.on('warning', ({ code }) => warnings.push(code))
  fake.script({ match: { op: 10 }, times: 2, do: { status: 200, body: { status: 'checking' } } })
  await clock.run(client.documents.translate(HELLO, undefined, TXT))
  expect(clock.waits.slice(0, 8)).toEqual([1000, 1500, 2250, 3375, 5062.5, 7593.75, 11390.625, 15_000])
  expect(warnings).toEqual(['DOCUMENT_STATUS_UNKNOWN'])
  clock.waits.length = 0
  for (const secondsRemaining of [90, 7, 0.1])
    fake.script({ match: { op: 10 }, do: { status: 200, body: { status: 'translating', seconds_remaining: secondsRemaining } } })
  await clock.run(client.documents.translate(HELLO, undefined, TXT))
  expect(clock.waits.slice(0, 3)).toEqual([60_000, 7000, 1000])
})

it('ends at its deadline with the last state and the handle, which continues later', async () => {
  const { client, clock } = await fakeClient({ fake: { translateMs: 60_000 } })
  const error = await clock.run(failureOf<{ handle: unknown }>(client.documents.translate(HELLO, undefined, TXT, { totalTimeout: 5000 })))
  expect(error).toMatchObject({ code: 'TIMEOUT_TOTAL', lastState: 'translating', handle: { document_id: expect.any(String) } })
  expect(clock.pending('wait')).toBe(0)
  expect(await clock.run(client.documents.resume(error.handle as never, undefined))).toMatchObject({ filename: 'a.txt' })
})

it.each([9, 10, 11])('leaves neither file nor timer behind when it is aborted in operation %i', async (op) => {
  const { client, fake, clock } = await fakeClient()
  const { source, sink, files } = await place()
  const controller = new AbortController()
  let release = () => {}
  fake.script({
    match: { op },
    do: {
      delay: new Promise<void>((resolve) => {
        release = resolve
      }),
    },
  })
  const failing = clock.run(failureOf(client.documents.translate(source, sink, TXT, { signal: controller.signal })))
  await expect.poll(() => fake.requests(op)).toBe(1)
  controller.abort(new Error('enough'))
  expect(await failing).toMatchObject({
    name: 'AbortError',
    code: 'ABORTED',
    ...(op > 9 && { handle: { document_id: expect.any(String) } }),
  })
  release()
  expect(await files()).toEqual(['a.txt'])
  expect(clock.pending('wait')).toBe(0)
})

it('leaves no file behind when it is aborted in the middle of the document or while it waits', async () => {
  const { client, fake, clock } = await fakeClient()
  const { source, sink, files } = await place()
  const controller = new AbortController()
  fake.script({ match: { op: 11 }, do: { dripBody: { bytes: 1, everyMs: 20 } } })
  const failing = clock.run(failureOf(client.documents.translate(source, sink, TXT, { signal: controller.signal })))
  // The place is made before the document is asked for.
  await expect.poll(() => fake.requests(11)).toBe(1)
  await expect.poll(files).toContain('a.de.txt.part')
  controller.abort()
  expect(await failing).toMatchObject({ code: 'ABORTED' })
  expect(await files()).toEqual(['a.txt'])
  const waiting = new AbortController()
  client.on('progress', ({ operation }) => operation === 'documents.status' && setImmediate(() => waiting.abort()))
  expect(await failureOf(client.documents.translate(source, sink, TXT, { signal: waiting.signal }))).toMatchObject({
    code: 'ABORTED',
    lastState: 'queued',
  })
  expect(clock.pending('wait')).toBe(0)
})

it.each([Error, TypeError])('an output stream that fails with %o leaves the handle, and its error is not shown', async (Failure) => {
  const { client, clock } = await fakeClient()
  const write = () => {
    throw new Failure('the secret text')
  }
  const error = await clock.run(failureOf(client.documents.translate(HELLO, new WritableStream({ write }), TXT)))
  const handle = { document_id: expect.any(String) }
  expect(error).toMatchObject({ code: 'CONFIG_INVALID', operation: 'documents.download', attempts: expect.any(Number), handle })
  expect(`${error.message} ${error.stack} ${error.cause}`).not.toContain('the secret text')
})

it('a download ends at its deadline, also while the document arrives', async () => {
  const { client, fake, clock } = await fakeClient()
  const handle = await client.documents.upload(HELLO, TXT)
  await clock.run(client.documents.wait(handle))
  fake.script({ match: { op: 11 }, do: { dripBody: { bytes: 1, everyMs: 60_000 } } })
  const failing = failureOf(client.documents.download(handle, undefined, { totalTimeout: 5000 }))
  await expect.poll(() => fake.requests(11)).toBe(1)
  clock.advance(5050)
  expect(await failing).toMatchObject({ code: 'TIMEOUT_TOTAL', operation: 'documents.download', attempts: 1, handle })
})

it.each([
  [{ totalTimeout: Number.NaN }, 'totalTimeout'],
  [{ totalTimeout: '5' as never }, 'totalTimeout'],
  [{ deadline: 5 as never }, 'deadline'],
])('refuses %o as the end of several requests', async (end, field) => {
  const { client, fake } = await fakeClient()
  const handle = { document_id: 'A', document_key: 'B' }
  for (const call of [client.documents.download(handle, undefined, end), client.documents.wait(handle, end)])
    expect(await failureOf(call)).toMatchObject({ code: 'REQUEST_INVALID', field })
  expect(fake.log).toHaveLength(0)
})

it('sends nothing after the deadline, and takes Infinity for none', async () => {
  const { client, fake, clock } = await fakeClient()
  const handle = await client.documents.upload(HELLO, TXT)
  const late = { totalTimeout: -1 }
  for (const call of [client.documents.wait(handle, late), client.documents.download(handle, undefined, late)])
    expect(await failureOf(call)).toMatchObject({ code: 'TIMEOUT_TOTAL', attempts: 0 })
  expect(fake.log).toHaveLength(1)
  const always = { totalTimeout: Number.POSITIVE_INFINITY }
  await clock.run(client.documents.wait(handle, always))
  expect((await client.documents.download(handle, undefined, always)).bytes).toBeDefined()
})

it('names the last state also if the deadline passes during the download', async () => {
  const { client, fake, clock } = await fakeClient()
  fake.script({ match: { op: 11 }, do: { status: 503 } })
  const done = { status: 200, body: { document_id: 'A', status: 'done' } }
  fake.script({ match: { op: 10 }, times: 2, do: done })
  const failing = failureOf(clock.run(client.documents.translate(HELLO, undefined, TXT, { totalTimeout: 500 })))
  expect(await failing).toMatchObject({ code: 'TIMEOUT_TOTAL', operation: 'documents.download', lastState: 'done' })
})

it('leaves no listener behind, also after downloads that fail', async () => {
  const { client, fake, clock } = await fakeClient()
  const { signal } = new AbortController()
  const handle = await client.documents.upload(HELLO, TXT, { signal })
  await failureOf(client.documents.download(handle, undefined, { signal }))
  fake.script({ match: { op: 11 }, times: 2, do: { status: 503 } })
  fake.script({ match: { op: 11 }, do: { truncate: 2 } })
  expect(await clock.run(failureOf(client.documents.resume(handle, undefined, { signal })))).toMatchObject({ code: 'RESPONSE_TRUNCATED' })
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
})
