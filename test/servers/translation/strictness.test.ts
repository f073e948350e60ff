import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DICTIONARY, field, INSTRUCTION, multipart, QUALITY, type Sent, STYLE, send, VOICE, VOICE_JOB } from './known-good.ts'
import { startTranslationFake, type TranslationFake } from './translation-fake.ts'

let fake: TranslationFake
beforeAll(async () => {
  fake = await startTranslationFake()
})
beforeEach(() => fake.reset())
afterAll(() => fake.close())

const text = (more: object = {}): Sent => ({ json: { text: ['a'], target_lang: 'DE', ...more } })
const form = (body: string): Sent => ({ body, type: 'application/x-www-form-urlencoded' })
const file = (parts: Readonly<Record<string, string>>, name = 'a.txt', content = 'x') =>
  multipart({ target_lang: 'DE', ...parts }, { name, content })
const terms = (entries: string, more: object = {}): Sent => ({ json: { name: 'a', ...DICTIONARY, entries, ...more } })
const nowhere = '00000000-0000-4000-8000-000000000000'
const DATES = 'start_date=2026-05-01&end_date=2026-06-30'

/** What no correct client sends: refused, and recorded. */
const violations: readonly (readonly [what: string, op: number, sent: Sent, violation: RegExp])[] = [
  ['an unknown field', 8, text({ txt: 1 }), /Unknown field 'txt'/],
  ['an unknown field in a form', 8, form('text=a&target_lang=DE&txt=1'), /Unknown field 'txt'/],
  ['an unknown field of a dictionary', 13, { json: { name: 'a', dictionaries: [{ ...DICTIONARY, more: 1 }] } }, /Unknown field 'more'/],
  [
    'an unknown field of an instruction',
    34,
    { json: { ...STYLE, custom_instructions: [{ ...INSTRUCTION, id: 'a' }] } },
    /custom_instructions.id/,
  ],
  ['an unknown parameter', 28, { query: 'a=b' }, /unknown parameter a/],
  ['a parameter twice', 29, { query: 'type=source&type=source' }, /type twice/],
  ['another content type', 8, { ...text(), json: undefined, body: '{}', type: 'text/plain' }, /content type/],
  ['a form where only JSON is read', 3, form('label=a'), /content type/],
  ['another charset', 8, { body: '{}', type: 'application/json; charset=latin1' }, /charset/],
  ['broken JSON', 8, { body: '{"text":', type: 'application/json' }, /Not JSON/],
  ['a name twice', 8, { body: '{"text":["a"],"target_lang":"DE","text":["b"]}' }, /"text" twice/],
  ['bytes that are not UTF-8', 8, { body: Buffer.from('{"text":["\xff"],"target_lang":"DE"}', 'latin1') }, /not UTF-8/],
  ['a form that is encoded wrongly', 8, form('text=%zz&target_lang=DE'), /Not a form/],
  ['a raw blank in a form', 8, form('text=a b&target_lang=DE'), /Not a form/],
  ['a body that is no multipart', 9, { json: {} }, /content type/],
  ['a broken multipart body', 9, { body: '--b\r\n', type: 'multipart/form-data; boundary=b' }, /last boundary is missing|No multipart/],
  ['an unknown part', 9, file({ other: 'x' }), /Unknown field 'other'/],
  ['no credential', 28, { headers: { Authorization: [] } }, /no authorization/],
  ['another scheme without its blank', 28, { headers: { Authorization: 'DeepL-Auth-Key  test-pro' } }, /exactly one blank/],
  ['something behind the key', 28, { headers: { Authorization: 'DeepL-Auth-Key test-pro x' } }, /exactly one blank/],
  ['the key in the address', 28, { query: 'auth_key=test-pro' }, /key in the address/],
  ['the key in the body', 8, text({ context: 'test-pro' }), /key in the body/],
  ['two credentials', 28, { headers: { Authorization: ['DeepL-Auth-Key test-pro', 'DeepL-Auth-Key test-pro'] } }, /two authorization/],
]

describe('the translation service refuses and records', () => {
  it.each(violations)('%s', async (_, op, sent, violation) => {
    const { status } = await send(fake, op, sent)
    expect([status, fake.violations]).toEqual([
      expect.toSatisfy((code) => code === 400 || code === 403),
      expect.arrayContaining([expect.stringMatching(violation)]),
    ])
    expect(() => fake.assertClean()).toThrow(violation)
  })

  it.each(['Bearer test-pro', 'deepl-auth-key test-pro', 'DeepL-Auth-Key Test-Pro'])('not even %s', async (Authorization) => {
    expect((await send(fake, 28, { headers: { Authorization } })).status).toBe(403)
  })
})

/** What the service may say no to: refused only. */
const refusals: readonly (readonly [what: string, op: number, sent: Sent, status?: number])[] = [
  ['no texts', 8, text({ text: [] })],
  ['51 texts', 8, text({ text: Array.from({ length: 51 }, () => 'a') })],
  ['text that is no list', 8, text({ text: 'a' })],
  ['no target', 8, { json: { text: ['a'] } }],
  ['an unknown target', 8, text({ target_lang: 'XX' })],
  ['a variant as source', 8, text({ source_lang: 'EN-GB' })],
  ['a boolean as text', 8, text({ preserve_formatting: 'true' })],
  ['a boolean of a form in words', 8, form('text=a&target_lang=DE&preserve_formatting=true')],
  ['a threshold above 100', 8, text({ translation_memory_threshold: 101 })],
  ['an unknown memory', 8, text({ translation_memory_id: nowhere }), 404],
  ['an unknown glossary', 8, text({ glossary_id: nowhere, source_lang: 'EN' }), 404],
  ['a glossary without source', 8, text({ glossary_id: nowhere })],
  ['both kinds of glossary', 8, text({ glossary_id: nowhere, glossary_ids: [nowhere], source_lang: 'EN' })],
  ['six glossaries', 8, text({ glossary_ids: Array.from({ length: 6 }, () => nowhere), source_lang: 'EN' })],
  ['an unknown style', 8, text({ style_id: nowhere }), 404],
  ['a style in a form', 8, form(`text=a&target_lang=DE&style_id=${nowhere}`)],
  ['instructions in a form', 8, form('text=a&target_lang=DE&custom_instructions=a')],
  ['11 instructions', 8, text({ custom_instructions: Array.from({ length: 11 }, () => 'a') })],
  ['a long instruction', 8, text({ custom_instructions: ['😀'.repeat(301)] })],
  ['instructions for another target', 8, text({ target_lang: 'RU', custom_instructions: ['a'] })],
  ['formality where there is none', 8, text({ target_lang: 'BG', formality: 'more' })],
  ['a formality of its own', 8, text({ formality: 'rude' })],
  ['broken XML', 8, text({ text: ['<a>b'], tag_handling: 'xml', tag_handling_version: 'v2' })],
  ['a lone ampersand', 8, text({ text: ['a & b'], tag_handling: 'xml', tag_handling_version: 'v2' })],
  ['a large body', 8, text({ context: 'x'.repeat(131_072) }), 413],
  ['a long address', 8, { ...text(), query: `a=${'x'.repeat(8192)}` }, 414],
  ['a tag with a blank', 8, { ...text(), headers: { 'X-DeepL-Reporting-Tag': 'a b' } }],
  ['a long tag', 8, { ...text(), headers: { 'X-DeepL-Reporting-Tag': 'a'.repeat(101) } }],
  ['no file', 9, multipart({ target_lang: 'DE' }, undefined)],
  ['a file of another kind', 9, file({}, 'a.exe')],
  ['a file without a name', 9, { ...file({}), body: String(file({}).body).replace('; filename="a.txt"', '') }],
  ['another output', 9, file({ output_format: 'pdf' })],
  [
    'a part twice',
    9,
    {
      ...file({}),
      body: String(file({}).body).replace(
        '--a-boundary\r\n',
        '--a-boundary\r\nContent-Disposition: form-data; name="target_lang"\r\n\r\nDE\r\n--a-boundary\r\n',
      ),
    },
  ],
  ['a large text', 9, file({}, 'a.txt', 'x'.repeat(1_000_001)), 413],
  ['subtitles that are too large', 9, file({}, 'a.srt', 'x'.repeat(150_001)), 413],
  ['no date', 1, {}],
  ['a day that does not exist', 1, { query: 'start_date=2026-02-30&end_date=2026-03-01' }],
  ['367 days', 1, { query: 'start_date=2025-01-01&end_date=2026-01-03' }],
  ['another grouping', 1, { query: `${DATES}&group_by=day` }],
  ['another aggregation', 2, { query: `${DATES}&aggregate_by=key` }],
  ['page 0', 2, { query: `${DATES}&page=0` }],
  ['an unknown key', 5, { json: { key_id: 'a:b' } }, 404],
  ['a negative limit', 7, { json: { key_id: 'a:b', characters: -1 } }],
  ['no right to administrate', 4, { key: 'test-pro' }, 403],
  ['terms of one column', 21, terms('a')],
  ['terms of three columns', 21, terms('a\tb\tc')],
  ['an empty term', 21, terms('a\t')],
  ['a term twice', 21, terms('a\tb\na\tc')],
  ['a blank at the edge', 21, terms('a \tb')],
  ['a control character', 21, terms('a\u0085b\tc')],
  ['a line separator', 21, terms('a\u2028b\tc')],
  ['a long term', 21, terms(`${'ä'.repeat(513)}\tb`)],
  ['CSV that is none', 21, terms('"a,b', { entries_format: 'csv' })],
  ['another format', 21, terms('a\tb', { entries_format: 'xml' })],
  ['a variant in a glossary', 21, terms('a\tb', { target_lang: 'en-us' })],
  ['a long name', 21, terms('a\tb', { name: 'ä'.repeat(513) })],
  ['a large glossary', 21, terms('x'.repeat(10_485_761))],
  ['two dictionaries at once', 13, { json: { name: 'a', dictionaries: [DICTIONARY, DICTIONARY] } }],
  ['a gap in a form', 13, form('name=a&dictionaries%5B1%5D.source_lang=en')],
  ['both style and tone', 26, { json: { text: ['a'], writing_style: 'casual', tone: 'friendly' } }],
  ['another language than the text', 26, { json: { text: ['de: a'], target_lang: 'fr' } }],
  ['no language to write in', 27, { json: { text: ['a'], target_lang: 'pl' } }],
  ['a large body to write', 27, { json: { text: ['x'.repeat(10_240)] } }, 413],
  ['another type of language', 29, { query: 'type=both' }],
  ['no resource', 31, {}],
  ['another resource', 31, { query: 'resource=toString' }],
  ['another inclusion', 31, { query: 'resource=voice&include=all' }],
  ['26 a page', 32, { query: 'page_size=26' }],
  ['page -1', 33, { query: 'page=-1' }],
  ['details in numbers', 33, { query: 'detailed=1' }],
  ['a style of another language', 34, { json: { ...STYLE, language: 'pl' } }],
  ['an option that is no text', 34, { json: { ...STYLE, configured_rules: { numbers: { decimals: 1 } } } }],
  ['201 instructions', 34, { json: { ...STYLE, custom_instructions: Array.from({ length: 201 }, () => INSTRUCTION) } }],
  ['a long prompt', 34, { json: { ...STYLE, custom_instructions: [{ ...INSTRUCTION, prompt: 'x'.repeat(301) }] } }],
  ['a long label', 34, { json: { ...STYLE, custom_instructions: [{ ...INSTRUCTION, label: 'x'.repeat(101) }] } }],
  ['an unknown list', 35, { params: { style_id: nowhere } }, 404],
  ['media with a blank', 43, { json: { ...VOICE, source_media_content_type: 'audio/pcm; encoding=s16le; rate=16000' } }],
  ['six targets', 43, { json: { ...VOICE, target_languages: ['de', 'fr', 'es', 'it', 'ja', 'ko'] } }],
  ['an unknown token', 44, { query: 'token=x' }],
  ['an empty recording', 45, { json: { ...VOICE_JOB, source_file: { ...VOICE_JOB.source_file, content_length: 0 } } }],
  ['another target type', 45, { json: { ...VOICE_JOB, targets: [{ language: 'de', type: 'text/html' }] } }],
  ['an unknown voice job', 46, { params: { job_id: nowhere } }, 404],
  ['501 segments', 47, { json: { ...QUALITY, segments: Array.from({ length: 501 }, () => QUALITY.segments[0]) } }],
  ['an empty side', 47, { json: { ...QUALITY, segments: [{ source: '', target: 'a' }] } }],
  ['a long side', 47, { json: { ...QUALITY, segments: [{ source: 'x'.repeat(10_001), target: 'a' }] } }],
  ['a job that is no UUID', 48, { params: { job_id: 'x' } }],
  ['an unknown job', 48, { params: { job_id: nowhere } }, 404],
]

describe('the translation service refuses', () => {
  it.each(refusals.map(([what, op, sent, status = 400]) => [what, op, sent, status] as const))('%s', async (_, op, sent, status) => {
    const answer = await send(fake, op, sent)
    expect([answer.status, answer.json]).toEqual([status, expect.objectContaining({ message: expect.any(String) })])
    fake.assertClean()
  })

  it('accepts from above what is just within its limits', async () => {
    expect((await send(fake, 8, text({ text: Array.from({ length: 50 }, () => 'a') }))).status).toBe(200)
    expect((await send(fake, 1, { query: 'start_date=2025-01-01&end_date=2026-01-02' })).status).toBe(200)
    expect((await send(fake, 21, terms(`${'x'.repeat(1024)}\tb`))).status).toBe(201)
    expect(
      (await send(fake, 34, { json: { ...STYLE, custom_instructions: [{ label: 'x'.repeat(100), prompt: '😀'.repeat(300) }] } })).status,
    ).toBe(201)
    expect(
      (await send(fake, 8, text({ text: ['<a b="c">d &amp; e<f/></a>'], tag_handling: 'xml', tag_handling_version: 'v2' }))).status,
    ).toBe(200)
    fake.assertClean()
  })

  it('the translation service does not report whether a key existed, and enforces scopes', async () => {
    const scoped = await startTranslationFake({
      keys: {
        old: { plan: 'pro', role: 'developer', deactivated: true },
        reader: { plan: 'pro', role: 'developer', scopes: ['glossaries:read'] },
        poor: { plan: 'pro', role: 'developer', quota: 3 },
      },
    })
    expect((await send(scoped, 28, { key: 'old' })).status).toBe(403)
    expect((await send(scoped, 14, { key: 'reader' })).status).toBe(200)
    expect(await send(scoped, 8, { key: 'reader', ...text() })).toMatchObject({
      status: 403,
      json: { message: 'Forbidden', detail: 'Missing required scope(s): translate:text' },
    })
    expect((await send(scoped, 43, { key: 'reader', json: VOICE })).status).toBe(403)
    expect((await send(scoped, 8, { key: 'poor', ...text({ text: ['😀😀'] }) })).status).toBe(200)
    expect(await send(scoped, 8, { key: 'poor', ...text({ text: ['ab'] }) })).toMatchObject({
      status: 456,
      json: { message: 'Quota exceeded' },
    })
    expect((await send(scoped, 28, { key: 'poor' })).json).toMatchObject({ character_count: 2, character_limit: 3 })
    await scoped.close()
  })

  it('the translation service has another host for the free plan', async () => {
    const free = await startTranslationFake({
      plan: 'free',
      keys: {
        'a:fx': { plan: 'free', role: 'developer' },
        paid: { plan: 'pro', role: 'developer' },
        admin: { plan: 'free', role: 'admin' },
      },
    })
    expect((await send(free, 28, { key: 'a:fx' })).json).toEqual({ character_count: 0, character_limit: 1_000_000_000_000 })
    expect((await send(free, 28, { key: 'paid' })).status).toBe(403)
    expect((await send(free, 43, { key: 'a:fx', json: VOICE })).status).toBe(403)
    expect((await send(free, 4, { key: 'admin' })).status).toBe(403)
    await free.close()
  })

  it('puts what it is told into every answer, and makes the same identifiers from the same seed', async () => {
    const twins = await Promise.all([1, 2].map(() => startTranslationFake({ seed: 7, traceEverywhere: true })))
    const ids = await Promise.all(twins.map(async (each) => field(await send(each, 47, { json: QUALITY }), 'job_id')))
    expect(ids[0]).toBe(ids[1])
    const [twin] = twins
    if (twin) expect((await send(twin, 48, { params: { job_id: nowhere } })).headers['x-trace-id']).toEqual(expect.any(String))
    await Promise.all(twins.map((one) => one.close()))
  })
})
