import { expect, it } from 'vitest'
import type { TextOutcome } from '../../../src/services/translation/translate-many.ts'
import { failureOf } from '../../harness/failure.ts'
import { fakeClient } from './fake-client.ts'

const DE = { target_lang: 'DE' }
const texts = (count: number, size = 3) => Array.from({ length: count }, (_, index) => String(index).padEnd(size, 'x'))

async function outcomes(source: AsyncIterable<TextOutcome>): Promise<TextOutcome[]> {
  const all: TextOutcome[] = []
  for await (const outcome of source) all.push(outcome)
  return all
}

it('translates any number of texts in as few requests as possible, in their order', async () => {
  const { client, fake } = await fakeClient()
  const translated = await client.translateMany(texts(120), DE).toArray()
  expect(translated.map(({ text }) => text)).toEqual(texts(120).map((text) => `[DE] ${text}`))
  expect(fake.log.map(({ body }) => JSON.parse(body).text.length)).toEqual([50, 50, 20])
  expect(await client.translateMany([], DE).toArray()).toEqual([])
  expect(await client.translateMany('one', DE).toArray()).toMatchObject([{ text: '[DE] one' }])
  expect(fake.log).toHaveLength(4)
})

it.each(['json', 'form'] as const)('fills requests up to 128 KiB, options included, as %s', async (encoding) => {
  const { client, fake } = await fakeClient()
  const params = { ...DE, context: 'é'.repeat(1000) }
  const many = texts(240, 1000).map((text, index) => (index % 2 ? `${text}"é&😀` : text))
  expect(await client.translateMany(many, params, { encoding }).toArray()).toHaveLength(240)
  const sizes = fake.log.map(({ bodyBytes }) => bodyBytes.length)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(131_072)
  // 50 of these texts have less than half of what fits.
  expect(fake.log).toHaveLength(5)
  fake.reset()
  const large = texts(20, 40_000)
  expect(await client.translateMany(large, params, { encoding }).toArray()).toHaveLength(20)
  expect(fake.log).toHaveLength(7)
})

it('takes a text that fills a request alone, to the byte', async () => {
  const { client, fake } = await fakeClient()
  const room = 131_072 - JSON.stringify({ text: [''], ...DE }).length
  const all = await outcomes(client.translateMany(['a', 'x'.repeat(room), 'x'.repeat(room + 1), 'b'], DE))
  expect(all.map(({ index }) => index)).toEqual([0, 1, 2, 3])
  expect(all.map((outcome) => 'translation' in outcome)).toEqual([true, true, false, true])
  expect(all[2]).toMatchObject({ error: { code: 'REQUEST_TOO_LARGE', field: 'text[2]' }, notSent: false })
  expect(fake.log.map(({ bodyBytes }) => bodyBytes.length)).toContain(131_072)
})

it('fails for the texts of one request only', async () => {
  const { client, fake } = await fakeClient()
  fake.script({ match: { op: 8, nth: 2 }, do: { status: 400 } })
  const failed = await failureOf<{ results: unknown[]; failures: { index: number }[] }>(
    client.translateMany(texts(120), DE, { concurrency: 1 }).toArray(),
  )
  expect(failed).toMatchObject({ name: 'BatchError', code: 'BATCH_INCOMPLETE', notSent: [], cause: { code: 'HTTP_400' } })
  const { results, failures } = failed
  expect(results.filter((result) => result === undefined)).toHaveLength(50)
  expect(failures.map(({ index }) => index)).toEqual(texts(50).map((_, index) => index + 50))
})

it('sends nothing more once the quota is used up, and reports what was not sent', async () => {
  const keys = { 'test-pro': { plan: 'pro', role: 'developer', quota: 300 } } as const
  const { client, fake } = await fakeClient({ fake: { keys } })
  const all = await outcomes(client.translateMany(texts(500), DE, { concurrency: 2 }))
  expect(all).toHaveLength(500)
  expect(all.filter((outcome) => 'translation' in outcome)).toHaveLength(100)
  const rest = all.flatMap((outcome) => ('error' in outcome ? [outcome] : []))
  expect(new Set(rest.map(({ error }) => error.code))).toEqual(new Set(['HTTP_456']))
  expect(rest.filter(({ notSent }) => notSent).length).toBeGreaterThanOrEqual(300)
  expect(fake.requests(8)).toBeLessThanOrEqual(4)
})

it('keeps within the requests that are wanted at a time, and retries', async () => {
  const { client, fake, clock } = await fakeClient()
  fake.script({ match: { op: 8 }, do: { status: 503 } })
  expect(await clock.run(client.translateMany(texts(400), DE, { concurrency: 3 }).toArray())).toHaveLength(400)
  expect(fake.maxConcurrent()).toBeLessThanOrEqual(3)
  expect(fake.requests(8)).toBe(9)
})

it('reads its texts as they are needed, and ends what is under way when the loop is left', async () => {
  const { client, fake } = await fakeClient()
  let read = 0
  let closed = false
  async function* endless() {
    try {
      for (;;) yield `text ${read++}`
    } finally {
      closed = true
    }
  }
  for await (const { index } of client.translateMany(endless(), DE, { concurrency: 2 })) if (index === 60) break
  expect(closed).toBe(true)
  expect(read).toBeLessThanOrEqual(5 * 50 + 1)
  await expect.poll(() => fake.log.every(({ status, aborted }) => aborted || status > 0)).toBe(true)
})

it('translateMany is aborted as a whole, and throws the error of its source', async () => {
  const { client, fake } = await fakeClient()
  const controller = new AbortController()
  fake.script({ match: { op: 8 }, do: { noResponse: true } })
  const failing = failureOf(client.translateMany(texts(10), DE, { signal: controller.signal }).toArray())
  await expect.poll(() => fake.requests(8)).toBe(1)
  controller.abort(new Error('enough'))
  expect(await failing).toMatchObject({ code: 'ABORTED' })
  const broken = function* () {
    yield 'a'
    throw new RangeError('no more')
  }
  expect(await failureOf(client.translateMany(broken(), DE).toArray())).toBeInstanceOf(RangeError)
  expect(await failureOf(client.translateMany([7 as never], DE).toArray())).toBeInstanceOf(TypeError)
  expect(await failureOf(client.translateMany(['a'], { ...DE, glossary_id: 'g' }).toArray())).toMatchObject({ field: 'source_lang' })
})
