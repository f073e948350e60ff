import { expect, it } from 'vitest'
import type { TranslateTextParams } from '../../../src/services/translation/translate-text.ts'
import { failureOf } from '../../harness/failure.ts'
import { fakeClient } from './fake-client.ts'

it('translates one text or several, in their order', async () => {
  const { client, fake } = await fakeClient()
  const { translations } = await client.translateText({ text: 'Hello', target_lang: 'DE' })
  expect(translations).toMatchObject([{ text: '[DE] Hello' }])
  const many = await client.translateText({ text: ['a', '', 'ü😀'], target_lang: 'sr-Cyrl-RS', source_lang: 'en' })
  expect(many.translations.map(({ text }) => text)).toEqual(['[sr-Cyrl-RS] a', '[sr-Cyrl-RS] ', '[sr-Cyrl-RS] ü😀'])
  expect(many.response).toMatchObject({ status: 200, attempts: 1, traceId: expect.stringMatching(/^[0-9a-f]{32}$/) })
  expect(JSON.stringify(many)).not.toContain('traceId')
  expect(fake.log.map(({ body }) => body)).toEqual([
    '{"text":["Hello"],"target_lang":"DE"}',
    '{"text":["a","","ü😀"],"target_lang":"sr-Cyrl-RS","source_lang":"en"}',
  ])
})

const ALL = {
  text: ['Hello <b>you</b>'],
  target_lang: 'de',
  source_lang: 'EN',
  context: 'a greeting',
  show_billed_characters: true,
  split_sentences: 'nonewlines',
  preserve_formatting: true,
  formality: 'prefer_more',
  model_type: 'quality_optimized',
  translation_memory_threshold: 75.5,
  tag_handling: 'xml',
  outline_detection: false,
  non_splitting_tags: ['b'],
  splitting_tags: ['p', 'q'],
  ignore_tags: ['x'],
  enable_beta_languages: false,
} as const

it('sends every parameter, as JSON', async () => {
  const { client, fake } = await fakeClient()
  const memory = fake.state.memories[0]?.translation_memory_id ?? ''
  const params = { ...ALL, translation_memory_id: memory, custom_instructions: ['Be brief.'], tag_handling_version: 'v2' as const }
  const { translations } = await client.translateText(params)
  expect(translations).toMatchObject([
    { detected_source_language: 'EN', billed_characters: 16, model_type_used: 'quality_optimized', tag_handling_version: 'v2' },
  ])
  expect(JSON.parse(fake.log[0]?.body ?? '')).toEqual(params)
})

it('sends a form when it is asked for one, and refuses there what only JSON can say', async () => {
  const { client, fake } = await fakeClient()
  await client.translateText({ ...ALL, text: ['a&b', 'c d'] }, { encoding: 'form' })
  const form = new URLSearchParams(fake.log[0]?.body)
  expect(form.getAll('text')).toEqual(['a&b', 'c d'])
  expect(Object.fromEntries(form)).toMatchObject({ splitting_tags: 'p,q', outline_detection: '0', preserve_formatting: '1' })
  for (const more of [{ style_id: 'x' }, { custom_instructions: ['a'] }, { tag_handling_version: 'v1' }]) {
    const refused = client.translateText({ text: 'a', target_lang: 'DE', ...more }, { encoding: 'form' })
    expect(await failureOf(refused)).toMatchObject({ name: 'ValidationError', field: Object.keys(more)[0], attempts: 0 })
    const added = client.translateText({ text: 'a', target_lang: 'DE' }, { encoding: 'form', extraBody: more })
    expect(await failureOf(added)).toMatchObject({ name: 'ValidationError', field: Object.keys(more)[0], attempts: 0 })
  }
  const lost = client.translateText({ text: 'a', target_lang: 'DE' }, { encoding: 'form', extraBody: new Map([['a', 1]]) as never })
  expect(await failureOf(lost)).toMatchObject({ name: 'ValidationError', field: 'extraBody', attempts: 0 })
  expect(await failureOf(client.usage({ encoding: 'form' }))).toMatchObject({ name: 'ValidationError', field: 'encoding' })
  expect(fake.log).toHaveLength(1)
  await client.translateText({ text: 'a', target_lang: 'DE' }, { encoding: 'form', extraBody: { ignore_tags: ['p', 'q'] } })
  expect(fake.log[1]?.body).toBe('text=a&target_lang=DE&ignore_tags=p%2Cq')
})

it.each<readonly [string, Partial<TranslateTextParams>, Partial<TranslateTextParams>]>([
  ['50 texts and not 51', { text: Array(50).fill('a') }, { text: Array(51).fill('a') }],
  ['10 instructions and not 11', { custom_instructions: Array(10).fill('a') }, { custom_instructions: Array(11).fill('a') }],
  ['instructions of 300 characters and not 301', { custom_instructions: ['😀'.repeat(300)] }, { custom_instructions: ['a'.repeat(301)] }],
  ['a threshold of 100 and not more', { translation_memory_threshold: 100 }, { translation_memory_threshold: 100.5 }],
])('takes %s', async (_name, good, bad) => {
  const { client, fake } = await fakeClient()
  const params = { text: 'a', target_lang: 'DE' }
  expect((await client.translateText({ ...params, ...good })).translations.length).toBeGreaterThan(0)
  expect(await failureOf(client.translateText({ ...params, ...bad }))).toMatchObject({ name: 'ValidationError', attempts: 0 })
  expect(fake.log).toHaveLength(1)
  // The service says the same.
  expect(await failureOf(client.translateText({ ...params, ...bad }, { validate: 'off' }))).toMatchObject({ code: 'HTTP_400' })
})

it.each<readonly [string, Partial<TranslateTextParams>, string]>([
  ['a glossary without a source language', { glossary_id: 'g' }, 'source_lang'],
  ['glossaries without a source language', { glossary_ids: ['g'] }, 'source_lang'],
  ['both ways to name glossaries', { source_lang: 'EN', glossary_id: 'g', glossary_ids: ['h'] }, 'glossary_ids'],
  ['6 glossaries', { source_lang: 'EN', glossary_ids: [...'abcdef'] }, 'glossary_ids'],
  ['instructions for another target', { target_lang: 'PL', custom_instructions: ['a'] }, 'target_lang'],
  ['no text', { text: [] }, 'text'],
])('refuses %s', async (_name, params, field) => {
  const { client, fake } = await fakeClient()
  const all = { text: 'a', target_lang: 'DE', ...params }
  expect(await failureOf(client.translateText(all))).toMatchObject({ code: 'REQUEST_INVALID', field, operation: 'translateText' })
  expect(fake.log).toHaveLength(0)
  expect(await failureOf(client.translateText(all, { validate: 'off' }))).toMatchObject({ code: 'HTTP_400', attempts: 1 })
})

it.each(['a', 'é', '"', '\n', '😀'])('takes a request of 128 KiB and not one byte more: %j', async (filler) => {
  const { client, fake } = await fakeClient()
  const request = (sentence: string) => JSON.stringify({ text: [sentence], target_lang: 'DE' })
  const perUnit = Buffer.byteLength(request(filler)) - Buffer.byteLength(request(''))
  const room = 131_072 - Buffer.byteLength(request(''))
  const text = filler.repeat(Math.floor(room / perUnit)) + 'a'.repeat(room % perUnit)
  expect((await client.translateText({ text, target_lang: 'DE' })).translations).toHaveLength(1)
  expect(fake.log[0]?.bodyBytes).toHaveLength(131_072)
  const tooMuch = { text: `${text}a`, target_lang: 'DE' }
  expect(await failureOf(client.translateText(tooMuch))).toMatchObject({ code: 'REQUEST_TOO_LARGE', limit: 131_072, attempts: 0 })
  expect(await failureOf(client.translateText(tooMuch, { validate: 'off' }))).toMatchObject({ name: 'PayloadTooLargeError' })
  const viaExtra = client.translateText({ text, target_lang: 'DE' }, { extraBody: { context: '' } })
  expect(await failureOf(viaExtra)).toMatchObject({ code: 'REQUEST_TOO_LARGE' })
})

it('refuses what is of the wrong type, whatever is to be checked', async () => {
  const { client } = await fakeClient()
  for (const params of [{ text: 7, target_lang: 'DE' }, { text: [null], target_lang: 'DE' }, { text: 'a' }])
    expect(await failureOf(client.translateText(params as never, { validate: 'off' }))).toBeInstanceOf(TypeError)
})

it('refuses an answer with another number of translations, or with none', async () => {
  const { client, fake, clock } = await fakeClient()
  const params = { text: ['a', 'b'], target_lang: 'DE' }
  fake.script({ do: { performThen: { status: 200, body: { translations: [{ text: 'x' }] } } } })
  expect(await failureOf(client.translateText(params))).toMatchObject({ name: 'ProtocolError', code: 'RESPONSE_INVALID' })
  fake.script({ do: { dropField: 'translations' } })
  expect(await failureOf(client.translateText(params))).toMatchObject({ code: 'RESPONSE_INVALID', operation: 'translateText', attempts: 1 })
  fake.script({ do: { performThen: { status: 200, body: '[]' } } })
  expect(await failureOf(client.translateText(params))).toMatchObject({ code: 'RESPONSE_INVALID' })
  fake.script({ do: { extraField: 'new' } })
  expect(await client.translateText(params)).toHaveProperty('new')
  fake.script({ do: { badJson: true } })
  expect((await clock.run(client.translateText(params))).response.attempts).toBe(2)
})

it.each([
  [400, 'BadRequestError', 1],
  [403, 'PermissionError', 1],
  [404, 'NotFoundError', 1],
  [413, 'PayloadTooLargeError', 1],
  [414, 'UriTooLongError', 1],
  [429, 'RateLimitError', 5],
  [456, 'QuotaExceededError', 1],
  [500, 'ServerError', 5],
  [504, 'UnavailableError', 5],
  [529, 'RateLimitError', 5],
] as const)('answers %i with %s after %i requests', async (status, name, attempts) => {
  const { client, fake, clock } = await fakeClient()
  fake.script({ times: attempts, do: { status } })
  const limited = { retry: { retries: 4 } }
  const error = await clock.run(failureOf(client.translateText({ text: 'a', target_lang: 'DE' }, limited)))
  expect(error).toMatchObject({ name, status, attempts, code: `HTTP_${status}`, traceId: expect.any(String) })
  expect(fake.requests(8)).toBe(attempts)
})

it('a billed request is not repeated when the caller forbids it', async () => {
  const { client, fake } = await fakeClient()
  fake.script({ do: { status: 500 } })
  const options = { retry: { billed: false } }
  expect(await failureOf(client.translateText({ text: 'a', target_lang: 'DE' }, options))).toMatchObject({ code: 'HTTP_500', attempts: 1 })
})

it('counts use under a tag, of the client or of the call', async () => {
  const { client, fake } = await fakeClient({ reportingTag: ' Mine ' })
  const params = { text: 'a', target_lang: 'DE' }
  await client.translateText(params)
  await client.translateText(params, { reportingTag: 'x'.repeat(100) })
  expect(fake.state.billed.map(({ tag }) => tag)).toEqual(['mine', 'x'.repeat(100)])
  for (const reportingTag of ['', ' ', 'a b', 'x'.repeat(101), 'ü', 'a\r\nb: c'])
    expect(await failureOf(client.translateText(params, { reportingTag }))).toMatchObject({
      code: 'REQUEST_INVALID',
      field: 'reportingTag',
    })
})

it('changes nothing that it is given', async () => {
  const { client } = await fakeClient()
  const params = Object.freeze({ text: Object.freeze(['a']) as readonly string[], target_lang: 'DE' })
  const options = Object.freeze({ reportingTag: 't', headers: Object.freeze({ 'x-a': 'b' }) })
  await client.translateText(params, options)
  expect(params).toEqual({ text: ['a'], target_lang: 'DE' })
  expect(options).toEqual({ reportingTag: 't', headers: { 'x-a': 'b' } })
})

it.each([[[null]], [['Hallo']], [[{}]], [[{ text: 7 }]], [[{ text: null }]]])(
  'refuses the answer %j, which is no translation',
  async (translations) => {
    const { client, fake } = await fakeClient()
    fake.script({ match: { op: 8 }, times: 2, do: { performThen: { status: 200, body: { translations } } } })
    const failure = { code: 'RESPONSE_INVALID', operation: 'translateText', attempts: 1 }
    expect(await failureOf(client.translateText({ text: 'a', target_lang: 'DE' }))).toMatchObject(failure)
    expect(await failureOf(client.translateMany(['a'], { target_lang: 'DE' }).toArray())).toMatchObject({ code: 'BATCH_INCOMPLETE' })
  },
)

it('refuses a text with an unpaired surrogate by the same error in both encodings, whatever is to be checked', async () => {
  const { client, fake } = await fakeClient()
  const refusal = { code: 'REQUEST_INVALID', field: 'text[1]', message: '"text[1]" has an unpaired surrogate in it; nothing was sent' }
  for (const options of [{}, { encoding: 'form' }, { validate: 'off' }] as const)
    expect(await failureOf(client.translateText({ text: ['a', 'b\ud83d'], target_lang: 'DE' }, options))).toMatchObject(refusal)
  const added = client.translateText({ text: 'a', target_lang: 'DE' }, { extraBody: { context: '\udc00' } })
  expect(await failureOf(added)).toMatchObject({ code: 'REQUEST_INVALID', field: 'context', attempts: 0 })
  expect(await failureOf(client.request('POST', '/v2/translate', { json: { text: ['\ud800'] } }))).toMatchObject({ field: 'text[0]' })
  const many = client.translateMany(['a', '\ud800'], { target_lang: 'DE' }).toArray()
  expect(await failureOf(many)).toMatchObject({ failures: [{ index: 1, error: { code: 'REQUEST_INVALID' } }] })
  expect(fake.requests(8)).toBe(1)
})

it.each([
  ['a page of HTML', '<!doctype html><p>Bad gateway</p>'],
  ['bytes that are not UTF-8', Buffer.from('{"translations":[{"text":"Gr\xfc\xdfe"}]}', 'latin1')],
])('does not pay twice for an answer that is %s', async (_name, body) => {
  const { client, fake, clock } = await fakeClient()
  fake.script({ match: { op: 8 }, do: { performThen: { status: 200, body } } })
  const failed = await clock.run(failureOf(client.translateText({ text: 'a', target_lang: 'DE' })))
  expect(failed).toMatchObject({ code: 'RESPONSE_INVALID', attempts: 1 })
  expect(fake.state.billed).toHaveLength(1)
})
