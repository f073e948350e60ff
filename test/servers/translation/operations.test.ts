import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DICTIONARY, field, INSTRUCTION, multipart, QUALITY, type Sent, STYLE, send, upload, VOICE, VOICE_JOB } from './known-good.ts'
import { operations } from './operations.ts'
import { performers } from './performers.ts'
import { startTranslationFake, type TranslationFake } from './translation-fake.ts'

let fake: TranslationFake
beforeAll(async () => {
  fake = await startTranslationFake()
})
afterAll(() => fake.close())

const made = async (op: number, json: unknown, id: string) => ({ [id]: field(await send(fake, op, { json }), id) })
const glossary = () => made(13, { name: 'Terms', dictionaries: [DICTIONARY] }, 'glossary_id')
const oldGlossary = () => made(21, { name: 'Terms', ...DICTIONARY }, 'glossary_id')
const style = () => made(34, STYLE, 'style_id')
const key = async () => ({ key_id: field(await send(fake, 3, { json: {} }), 'key_id') })
const instruction = async () => {
  const params = await style()
  const answer = await send(fake, 39, { params, json: INSTRUCTION })
  return { ...params, instruction_id: field(answer, 'id') }
}

const DATES = 'start_date=2026-05-01&end_date=2026-06-30'
const PAIR = 'source_lang=en&target_lang=de'

/** One request of each operation that must succeed, and a part of the answer. */
const good: Readonly<Record<number, readonly [() => Sent | Promise<Sent>, unknown]>> = {
  1: [
    () => ({ query: `${DATES}&group_by=` }),
    { usage_report: { start_date: '2026-05-01T00:00:00', total_usage: { total_characters: 0 } } },
  ],
  2: [() => ({ query: DATES }), { custom_tag_usage_report: { aggregate_by: 'period', next_page: null, usage: [] } }],
  3: [() => ({ json: {} }), { label: 'DeepL API Key', deactivated_time: null, is_deactivated: false }],
  4: [() => ({}), expect.arrayContaining([expect.objectContaining({ label: 'test-pro' })])],
  5: [async () => ({ json: await key() }), { is_deactivated: true, deactivated_time: '2026-06-01T12:00:00.000Z' }],
  6: [async () => ({ json: { ...(await key()), label: 'New' } }), { label: 'New' }],
  7: [async () => ({ json: { ...(await key()), characters: 5 } }), { usage_limits: { characters: 5, speech_to_text_milliseconds: null } }],
  8: [
    () => ({ json: { text: ['a', 'de: b'], target_lang: 'FR' } }),
    {
      translations: [
        { detected_source_language: 'EN', text: '[FR] a' },
        { detected_source_language: 'DE', text: '[FR] de: b' },
      ],
    },
  ],
  9: [
    () => multipart({ target_lang: 'DE' }, { name: 'a.txt', content: 'x' }),
    { document_id: expect.stringMatching(/^[\dA-F]{32}$/), document_key: expect.stringMatching(/^[\dA-F]{64}$/) },
  ],
  10: [() => upload(fake), { status: 'queued' }],
  11: [
    async () => {
      const document = await upload(fake)
      fake.clock.advance(3000)
      return document
    },
    undefined,
  ],
  12: [() => ({}), { supported_languages: expect.arrayContaining([{ source_lang: 'en', target_lang: 'de' }]) }],
  13: [
    () => ({ json: { name: 'Terms', dictionaries: [DICTIONARY] } }),
    { dictionaries: [{ source_lang: 'en', target_lang: 'de', entry_count: 1 }] },
  ],
  14: [() => ({}), { glossaries: expect.any(Array) }],
  15: [async () => ({ params: await glossary() }), { name: 'Terms' }],
  16: [async () => ({ params: await glossary(), json: { name: 'Other' } }), { name: 'Other' }],
  17: [async () => ({ params: await glossary() }), undefined],
  18: [
    async () => ({ params: await glossary(), query: PAIR }),
    { source_lang: 'en', target_lang: 'de', entries: 'Hello\tHallo', entries_format: 'tsv' },
  ],
  19: [async () => ({ params: await glossary(), query: PAIR }), undefined],
  20: [
    async () => ({ params: await glossary(), json: { ...DICTIONARY, target_lang: 'fr' } }),
    { source_lang: 'en', target_lang: 'fr', entry_count: 1 },
  ],
  21: [() => ({ json: { name: 'Terms', ...DICTIONARY } }), { ready: true, entry_count: 1 }],
  22: [() => ({}), { glossaries: expect.any(Array) }],
  23: [async () => ({ params: await oldGlossary() }), { name: 'Terms', source_lang: 'en' }],
  24: [async () => ({ params: await oldGlossary() }), undefined],
  25: [async () => ({ params: await oldGlossary(), headers: { accept: 'text/tab-separated-values' } }), undefined],
  26: [
    () => ({ json: { text: ['a'], writing_style: 'business' } }),
    { improvements: [{ text: 'a (business)', target_language: 'en', detected_source_language: 'en' }] },
  ],
  27: [
    () => ({ json: { text: ['a  b'], target_lang: 'de' } }),
    { improvements: [{ text: 'a b', target_language: 'de', detected_source_language: 'de' }] },
  ],
  28: [() => ({}), { character_count: expect.any(Number), character_limit: 1_000_000_000_000, products: expect.any(Array) }],
  29: [
    () => ({ query: 'type=target' }),
    expect.arrayContaining([{ language: 'EN-GB', name: 'English (British)', supports_formality: false }]),
  ],
  30: [
    () => ({}),
    expect.arrayContaining([
      { name: 'glossary', features: [{ name: 'glossary', needs_source_support: true, needs_target_support: true }] },
    ]),
  ],
  31: [
    () => ({ query: 'resource=translate_text&include=beta&include=external' }),
    expect.arrayContaining([expect.objectContaining({ lang: 'sr-Cyrl-RS', status: 'beta' }), expect.objectContaining({ lang: 'mt' })]),
  ],
  32: [() => ({ query: 'page_size=2' }), { total_count: 3, translation_memories: [{ segment_count: 100 }, { segment_count: 200 }] }],
  33: [() => ({ query: 'detailed=true' }), { style_rules: expect.any(Array) }],
  34: [() => ({ json: { ...STYLE, custom_instructions: [INSTRUCTION] } }), { version: 1, custom_instructions: [INSTRUCTION] }],
  35: [async () => ({ params: await style() }), { name: 'House', language: 'de', configured_rules: STYLE.configured_rules }],
  36: [async () => ({ params: await style(), json: { name: 'New' } }), { name: 'New', version: 2 }],
  37: [async () => ({ params: await style() }), undefined],
  38: [
    async () => ({ params: await style(), json: { vocabulary: { you: 'Sie' } } }),
    { configured_rules: { vocabulary: { you: 'Sie' } }, version: 2 },
  ],
  39: [async () => ({ params: await style(), json: INSTRUCTION }), INSTRUCTION],
  40: [async () => ({ params: await instruction() }), INSTRUCTION],
  41: [async () => ({ params: await instruction(), json: { ...INSTRUCTION, label: 'Kind' } }), { label: 'Kind' }],
  42: [async () => ({ params: await instruction() }), undefined],
  43: [() => ({ json: VOICE }), { streaming_url: expect.stringMatching(/^ws:/), token: expect.any(String) }],
  44: [async () => ({ query: `token=${field(await send(fake, 43, { json: VOICE }), 'token')}` }), { token: expect.any(String) }],
  45: [
    () => ({ json: VOICE_JOB, query: 'include=signed_url' }),
    { upload_url: expect.any(String), signature: expect.any(String), signed_upload_url: expect.any(String) },
  ],
  46: [async () => ({ params: await made(45, VOICE_JOB, 'job_id') }), { results: [{ status: 'pending' }, { status: 'pending' }] }],
  47: [() => ({ json: QUALITY }), { poll_url: expect.stringMatching(/^\/v1\/quality-evaluation\//) }],
  48: [async () => ({ params: await made(47, QUALITY, 'job_id') }), { status: 'processing' }],
}

describe('the table of operations', () => {
  it('the table of operations has 48, on 35 paths, each answered by a function of its own', () => {
    expect(operations.map(({ op }) => op)).toEqual(Array.from({ length: 48 }, (_, index) => index + 1))
    expect(new Set(operations.map(({ path }) => path)).size).toBe(35)
    expect(new Set(operations.map(({ op }) => performers[op])).size).toBe(48)
    expect(Object.keys(performers)).toHaveLength(48)
  })
})

describe.each(operations)('operation $op, $method $path', ({ op, success }) => {
  it('answers a correct request', async () => {
    const [prepare, part] = good[op] ?? []
    const answer = await send(fake, op, await prepare?.())
    expect(answer.text && `${answer.status} ${answer.text}`).toMatch(answer.text === '' ? /^$/ : new RegExp(`^(?:${success.join('|')}) `))
    expect(success).toContain(answer.status)
    expect(answer.headers['x-trace-id']).toEqual(
      [17, 19, 24, 45, 46, 47, 48].includes(op) ? undefined : expect.stringMatching(/^[\da-f]{32}$/),
    )
    if (part === undefined) expect(answer.json).toBeUndefined()
    else if (Array.isArray(answer.json)) expect(answer.json).toEqual(part)
    else expect(answer.json).toMatchObject(part as object)
    fake.assertClean()
  })

  it('refuses unknown users, and keys of others', async () => {
    const [prepare] = good[op] ?? []
    const sent = (await prepare?.()) ?? {}
    const newer = op >= 12 && op <= 46 && (op < 26 || op > 29)
    expect((await send(fake, op, { ...sent, key: 'wrong' })).status).toBe(newer ? 401 : 403)
    const { status, json } = await send(fake, op, { ...sent, key: 'test-free:fx' })
    expect([status, json]).toEqual([403, { message: expect.any(String) }])
  })
})
