import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DICTIONARY, field, INSTRUCTION, QUALITY, type Sent, STYLE, send, upload } from './known-good.ts'
import type { TranslationFakeOptions } from './options.ts'
import { startTranslationFake, type TranslationFake } from './translation-fake.ts'

let fake: TranslationFake
const start = async (options: TranslationFakeOptions = {}) => {
  await fake?.close()
  fake = await startTranslationFake(options)
}
beforeEach(() => start())
afterEach(() => fake.close())

const PAIR = 'source_lang=EN&target_lang=de'
const DATES = 'start_date=2026-05-01&end_date=2026-06-30'
const form = (body: string): Sent => ({ body, type: 'application/x-www-form-urlencoded' })

describe('a translation', () => {
  it('reports what it was asked to say, and reads forms', async () => {
    const options = { show_billed_characters: true, model_type: 'prefer_quality_optimized', tag_handling: 'html', source_lang: 'en' }
    expect((await send(fake, 8, { json: { text: ['a😀'], target_lang: 'de', ...options } })).json).toEqual({
      translations: [
        {
          detected_source_language: 'en',
          text: '[de] a😀',
          billed_characters: 2,
          model_type_used: 'quality_optimized',
          tag_handling_version: 'v1',
        },
      ],
    })
    const sent = form('text=a+b&text=c%26d&target_lang=DE&preserve_formatting=1&ignore_tags=x,y&show_billed_characters=0')
    expect((await send(fake, 8, sent)).json).toEqual({
      translations: [
        { detected_source_language: 'EN', text: '[DE] a b' },
        { detected_source_language: 'EN', text: '[DE] c&d' },
      ],
    })
    fake.assertClean()
  })

  it('uses terms, styles and memories', async () => {
    const glossary_id = field(await send(fake, 13, { json: { name: 'a', dictionaries: [DICTIONARY] } }), 'glossary_id')
    const style_id = field(await send(fake, 34, { json: STYLE }), 'style_id')
    const translation_memory_id = fake.state.memories[0]?.translation_memory_id
    const json = {
      text: ['Hello Hello'],
      source_lang: 'EN',
      target_lang: 'DE',
      glossary_id,
      style_id,
      translation_memory_id,
      translation_memory_threshold: 75.5,
    }
    expect((await send(fake, 8, { json })).json).toMatchObject({ translations: [{ text: '[DE] Hallo Hallo' }] })
    expect((await send(fake, 8, { json: { ...json, target_lang: 'FR' } })).status).toBe(400)
    expect((await send(fake, 8, { json: { ...json, style_id: undefined, target_lang: 'FR' } })).status).toBe(400)
    expect((await send(fake, 8, { json: { text: ['a'], target_lang: 'DE', unknown: 1 } })).status).toBe(400)
  })
})

describe('a glossary', () => {
  it('a glossary is seen by both families, and deleted by the one that made it', async () => {
    const params = { glossary_id: field(await send(fake, 21, { json: { name: 'a', ...DICTIONARY, target_lang: 'DE' } }), 'glossary_id') }
    expect((await send(fake, 15, { params })).json).toMatchObject({
      dictionaries: [{ source_lang: 'en', target_lang: 'de', entry_count: 1 }],
    })
    const more = { ...DICTIONARY, entries: '"a,""b""",c,en,de\r\nskip,x,en,fr\r\nHello,Servus', entries_format: 'csv' }
    expect((await send(fake, 16, { params, json: { dictionaries: [more] } })).json).toMatchObject({ dictionaries: [{ entry_count: 2 }] })
    expect((await send(fake, 18, { params, query: PAIR })).json).toMatchObject({ entries: 'Hello\tServus\na,"b"\tc' })
    expect(await send(fake, 25, { params, headers: { accept: 'text/tab-separated-values' } })).toMatchObject({
      text: 'Hello\tServus\na,"b"\tc',
    })
    expect(await send(fake, 25, { params, headers: { accept: 'application/json' } })).toMatchObject({ status: 415, text: '' })
    expect(await send(fake, 24, { params })).toMatchObject({ status: 403, text: '' })
    expect((await send(fake, 16, { params, json: { dictionaries: [DICTIONARY, more] } })).status).toBe(400)
    expect((await send(fake, 20, { params, json: { ...DICTIONARY, entries: 'x\ty' } })).json).toMatchObject({ entry_count: 1 })
    await send(fake, 20, { params, json: { ...DICTIONARY, target_lang: 'fr' } })
    expect((await send(fake, 23, { params })).status).toBe(404)
    expect((await send(fake, 19, { params, query: PAIR })).status).toBe(204)
    expect((await send(fake, 19, { params, query: PAIR })).status).toBe(404)
    expect([(await send(fake, 17, { params })).status, (await send(fake, 17, { params })).status]).toEqual([204, 404])
  })

  it('a glossary comes as a form, wrapped, not ready yet, and not in any number', async () => {
    await start({ entriesShape: 'wrapped', glossaryReadyMs: 1000, maxGlossaries: 1 })
    const name = encodeURIComponent('dictionaries[0].')
    const body = `name=a&${Object.entries(DICTIONARY)
      .map(([key, value]) => `${name}${key}=${encodeURIComponent(value)}`)
      .join('&')}`
    const params = { glossary_id: field(await send(fake, 13, form(body)), 'glossary_id') }
    expect((await send(fake, 18, { params, query: PAIR })).json).toMatchObject({ dictionaries: [{ entries: 'Hello\tHallo' }] })
    expect((await send(fake, 23, { params })).json).toMatchObject({ ready: false })
    fake.clock.advance(1000)
    expect((await send(fake, 23, { params })).json).toMatchObject({ ready: true })
    expect(await send(fake, 21, { json: { name: 'b', ...DICTIONARY } })).toMatchObject({ status: 456, text: '' })
    fake.assertClean()
  })
})

describe('administration', () => {
  it('makes keys that work, limits them and ends them at once', async () => {
    const key_id = field(await send(fake, 3, { json: { label: 'New' } }), 'key_id')
    const key = key_id.split(':')[1] ?? ''
    const translate = async () => (await send(fake, 8, { key, json: { text: ['abc'], target_lang: 'DE' } })).status
    expect(await translate()).toBe(200)
    await send(fake, 7, { json: { key_id, characters: 5 } })
    expect(await translate()).toBe(456)
    expect((await send(fake, 7, { json: { key_id, speech_to_text_milliseconds: 0 } })).json).toMatchObject({
      usage_limits: { characters: 5, speech_to_text_milliseconds: 0 },
    })
    await send(fake, 7, { json: { key_id, characters: null } })
    expect(await translate()).toBe(200)
    const [first, again] = [await send(fake, 5, { json: { key_id } }), await send(fake, 5, { json: { key_id } })]
    expect([first.json, await translate()]).toEqual([again.json, 403])
    expect((await send(fake, 6, { json: { key_id, label: 'Old' } })).json).toMatchObject({ label: 'Old', is_deactivated: true })
    expect((await send(fake, 4)).json).toHaveLength(2)
  })

  it('reports what was billed by key, by day and by tag', async () => {
    const json = { text: ['abc'], target_lang: 'DE' }
    const tagged = (tag: string) => ({ headers: { 'X-DeepL-Reporting-Tag': tag } })
    await send(fake, 8, { json, ...tagged(' Blue ') })
    await send(fake, 26, { json: { text: ['ab'] }, ...tagged('blue') })
    fake.clock.advance(86_400_000)
    await send(fake, 8, { json, ...tagged('red') })
    await send(fake, 8, { json, ...tagged('green') })
    await send(fake, 8, { json })
    const usage = {
      total_characters: 14,
      text_translation_characters: 12,
      text_improvement_characters: 2,
      document_translation_characters: 0,
      speech_to_text_minutes: 0,
    }
    const who = { api_key: 'test****-pro', api_key_label: 'test-pro' }
    expect((await send(fake, 1, { query: `${DATES}&group_by=key` })).json).toMatchObject({
      usage_report: { group_by: 'key', total_usage: usage, key_usages: [{ ...who, usage }] },
    })
    const { json: daily } = await send(fake, 1, { query: `${DATES}&group_by=key_and_day` })
    expect(daily).toMatchObject({
      usage_report: {
        key_and_day_usages: [
          { ...who, usage_date: '2026-06-01T00:00:00Z' },
          { usage_date: '2026-06-02T00:00:00Z', usage: { total_characters: 9 } },
        ],
      },
    })
    const page = async (query: string) =>
      (await send(fake, 2, { query: `${DATES}${query}` })).json as { custom_tag_usage_report: { next_page: unknown; usage: unknown } }
    expect((await page('')).custom_tag_usage_report).toMatchObject({
      next_page: 2,
      usage: [
        { custom_tag: 'blue', breakdown: { total_characters: 5, text_translation_characters: 3, text_improvement_characters: 2 } },
        { custom_tag: 'red' },
      ],
    })
    expect((await page('&page=2&aggregate_by=day')).custom_tag_usage_report).toMatchObject({
      next_page: null,
      usage: [{ custom_tag: 'green', usage_date: '2026-06-02T00:00:00Z' }],
    })
  })
})

describe('styles and evaluations', () => {
  it('styles and evaluations count versions, and page by page without a total', async () => {
    const params = { style_id: field(await send(fake, 34, { json: STYLE }), 'style_id') }
    const id = field(await send(fake, 39, { params, json: INSTRUCTION }), 'id')
    await send(fake, 42, { params: { ...params, instruction_id: id } })
    expect((await send(fake, 35, { params })).json).toMatchObject({ version: 3, custom_instructions: [] })
    expect((await send(fake, 40, { params: { ...params, instruction_id: id } })).status).toBe(404)
    expect((await send(fake, 33, { query: 'page=1&page_size=1' })).json).toEqual({ style_rules: [] })
    expect((await send(fake, 37, { params })).status).toBe(204)
    expect((await send(fake, 37, { params })).status).toBe(404)
  })

  it('styles and evaluations take their time, count code points, fail and end', async () => {
    await start({ pollUrl: 'foreign' })
    const answer = await send(fake, 47, { json: QUALITY })
    const params = { job_id: field(answer, 'job_id') }
    expect([answer.headers['retry-after'], field(answer, 'poll_url')]).toEqual([
      '5',
      `https://elsewhere.example/v1/quality-evaluation/${params.job_id}`,
    ])
    fake.clock.advance(4000)
    expect(await send(fake, 48, { params })).toMatchObject({ status: 202, headers: { 'retry-after': '1' } })
    fake.clock.advance(1000)
    expect(await send(fake, 48, { params })).toMatchObject({
      status: 200,
      json: {
        status: 'done',
        segments: [{ segment_index: 0, errors: [{ source_spans: [{ start: 0, end: 4 }], target_spans: [{ start: 5, end: 7 }] }] }],
        summary: { overall_score: 95 },
      },
    })
    const job = fake.state.qualityJobs.get(params.job_id) ?? expect.fail()
    job.failure = 'No such model'
    expect((await send(fake, 48, { params })).json).toMatchObject({ status: 'error', error: { message: 'No such model' } })
    fake.clock.advance(24 * 3_600_000)
    expect((await send(fake, 48, { params })).status).toBe(404)
  })
})

describe('the options', () => {
  it('let unknown fields pass, count minutes and estimate badly', async () => {
    await start({ allowExtra: true, usageVersion: '3.11', secondsRemaining: 2 ** 27 })
    expect((await send(fake, 8, { json: { text: ['a'], target_lang: 'DE', more: 1 }, query: 'more=1' })).status).toBe(200)
    fake.framing = 'chunked'
    expect((await send(fake, 28)).headers).toMatchObject({ 'transfer-encoding': 'chunked' })
    expect((await send(fake, 28)).json).toMatchObject({ speech_to_text_minutes_limit: 60, speech_to_text_milliseconds_limit: 0 })
    const document = await upload(fake)
    fake.clock.advance(1000)
    expect((await send(fake, 10, document)).json).toMatchObject({ seconds_remaining: 134_217_728 })
    fake.assertClean()
  })

  it('the options of the log: nothing is kept, but counted', async () => {
    await start({ log: false })
    await send(fake, 28)
    expect([fake.log, fake.requests(28), fake.requests(28, 'test-pro')]).toEqual([[], 1, 1])
    fake.reset()
    expect(fake.requests()).toBe(0)
  })
})
