import { expect, it } from 'vitest'
import { failureOf } from '../../harness/failure.ts'
import { fakeClient } from './fake-client.ts'

it('rephrases and corrects texts, in their order', async () => {
  const { client, fake } = await fakeClient()
  const { improvements } = await client.rephraseText({ text: ['a', 'b'], target_lang: 'en-GB', writing_style: 'prefer_business' })
  expect(improvements.map(({ text }) => text)).toEqual(['a (prefer_business)', 'b (prefer_business)'])
  expect((await client.rephraseText({ text: 'a', tone: 'friendly' }, { encoding: 'form' })).improvements).toMatchObject([
    { text: 'a (friendly)' },
  ])
  expect((await client.correctText({ text: 'a  b' })).improvements).toMatchObject([{ text: 'a b', detected_source_language: 'en' }])
  expect(fake.log.map(({ op }) => op)).toEqual([26, 26, 27])
})

it('refuses style and tone together, and more than 10 KiB', async () => {
  const { client, fake } = await fakeClient()
  const both = { text: 'a', writing_style: 'simple', tone: 'friendly' }
  expect(await failureOf(client.rephraseText(both))).toMatchObject({ code: 'REQUEST_INVALID', field: 'tone', operation: 'rephraseText' })
  expect(await failureOf(client.rephraseText(both, { validate: 'document' }))).toMatchObject({ code: 'HTTP_400' })
  await client.rephraseText({ ...both, tone: 'default' })
  const room = 10_240 - JSON.stringify({ text: [''] }).length
  expect((await client.correctText({ text: 'x'.repeat(room) })).improvements).toHaveLength(1)
  const tooLong = { text: 'x'.repeat(room + 1) }
  const hint = 'divide the text and send each part by itself'
  const refusal = { code: 'REQUEST_TOO_LARGE', limit: 10_240, operation: 'correctText', hint }
  expect(await failureOf(client.correctText(tooLong))).toMatchObject(refusal)
  expect(await failureOf(client.correctText(tooLong, { validate: 'document' }))).toMatchObject({ code: 'HTTP_413' })
  fake.script({ match: { op: 27 }, do: { performThen: { status: 200, body: { improvements: [] } } } })
  expect(await failureOf(client.correctText({ text: 'a' }))).toMatchObject({ code: 'RESPONSE_INVALID', attempts: 1 })
})

it('reports what is used up and what is left', async () => {
  const keys = { 'test-pro': { plan: 'pro', role: 'developer', quota: 10 }, 'test-free:fx': { plan: 'free', role: 'developer' } } as const
  const { client, fake } = await fakeClient({ fake: { keys, usageVersion: '3.11' } })
  await client.translateText({ text: 'Hello', target_lang: 'DE' })
  const usage = await client.usage()
  expect(usage).toMatchObject({ character_count: 5, character_limit: 10, products: [{}, {}], speech_to_text_minutes_limit: 60 })
  expect([usage.remaining(), usage.anyLimitReached(), usage.allows(5), usage.allows(6)]).toEqual([5, false, true, false])
  expect(JSON.parse(JSON.stringify(usage))).toEqual({ ...usage })
  await client.translateText({ text: 'again', target_lang: 'DE' })
  expect((await client.usage()).anyLimitReached()).toBe(true)
  fake.script({ match: { op: 28 }, do: { status: 200, body: { character_count: 7, character_limit: 1e12 } } })
  const free = await client.usage()
  expect([free.remaining(), free.anyLimitReached(), free.allows(1e15)]).toEqual([Number.POSITIVE_INFINITY, false, true])
})

it('lists languages, old and new', async () => {
  const { client, fake } = await fakeClient()
  expect((await client.languagesV2({ type: 'target' })).find(({ language }) => language === 'DE')).toMatchObject({
    supports_formality: true,
  })
  expect((await client.languagesV2()).some(({ language }) => language === 'EN-GB')).toBe(false)
  const stable = await client.languages.list({ resource: 'translate_text' })
  const all = await client.languages.list({ resource: 'translate_text', include: ['beta', 'external'] })
  expect(all.length - stable.length).toBe(4)
  expect(fake.log.at(-1)?.rawUrl).toBe('/v3/languages?resource=translate_text&include=beta&include=external')
  expect((await client.languages.resources()).map(({ name }) => name)).toContain('voice')
  expect(await failureOf(client.languages.list({ resource: 'none' }))).toMatchObject({ code: 'HTTP_400' })
})

it('knows whether a feature holds for a pair, and asks once', async () => {
  const { client, fake } = await fakeClient()
  fake.script({ match: { op: 30 }, do: { status: 403 } })
  const pair = { source: 'EN', target: 'de' }
  expect(await failureOf(client.languages.supports(pair, 'glossary'))).toMatchObject({ code: 'HTTP_403' })
  const supports = (source: string, target: string, feature: string) => client.languages.supports({ source, target }, feature)
  expect(await supports('EN', 'DE', 'formality')).toBe(true)
  expect(await supports('en', 'SV', 'formality')).toBe(false)
  expect(await supports('sv', 'de', 'formality')).toBe(true)
  expect(await supports('en', 'de', 'glossary')).toBe(true)
  expect(await supports('mt', 'de', 'glossary')).toBe(false)
  expect(await supports('EN-GB', 'de', 'formality')).toBe(false)
  expect(await supports('en', 'xx', 'formality')).toBe(false)
  expect(await supports('en', 'de', 'constructor')).toBe(false)
  expect(fake.requests(30)).toBe(2)
  expect(fake.requests(31)).toBe(1)
})

it('pages through the translation memories', async () => {
  const { client, fake } = await fakeClient()
  expect(await client.translationMemories.list()).toMatchObject({ total_count: 3, translation_memories: [{}, {}, {}] })
  fake.reset()
  const names = (await client.translationMemories.iterate({ page_size: 2 }).toArray()).map(({ name }) => name)
  expect(names).toEqual(['Memory 1', 'Memory 2', 'Memory 3'])
  expect(fake.log.map(({ rawUrl }) => rawUrl.split('?')[1])).toEqual(['page=0&page_size=2', 'page=1&page_size=2'])
  for await (const { name } of client.translationMemories.iterate({ page_size: 1 }, { limit: 2 })) expect(name).toMatch(/[12]$/)
  expect(fake.log).toHaveLength(4)
  const all = client.translationMemories.iterate({ page_size: 1 })
  expect((await Promise.all([all.toArray(), all.toArray()])).map((list) => list.length)).toEqual([3, 3])
  fake.script({ match: { op: 32 }, do: { dropField: 'translation_memories' } })
  expect(await failureOf(client.translationMemories.iterate().toArray())).toMatchObject({ code: 'RESPONSE_INVALID', page: 1 })
})

it('sends what no method is for', async () => {
  const { client, fake } = await fakeClient()
  const answer = await client.request<{ translations: unknown[] }>('POST', '/v2/translate', {
    form: { text: ['a', 'b'], target_lang: 'DE' },
  })
  expect(answer).toMatchObject({ status: 200, attempts: 1, data: { translations: [{}, {}] } })
  expect(fake.log[0]).toMatchObject({ body: 'text=a&text=b&target_lang=DE' })
  const body = '{"text":["a"],"target_lang":"DE"}'
  expect(await client.request('POST', '/v2/translate', { body, contentType: 'application/json' })).toMatchObject({ status: 200 })
  expect(await client.request('GET', '/v2/languages', { query: { type: 'target' } })).toMatchObject({ status: 200 })
  fake.script({ do: { status: 500 } })
  expect(await failureOf(client.request('POST', '/v2/translate', { json: JSON.parse(body) }))).toMatchObject({ attempts: 1 })
  expect(await failureOf(client.request('GET', '/../v2/usage'))).toMatchObject({ code: 'REQUEST_INVALID' })
  expect(await failureOf(client.request('GET', '//evil.example/'))).toMatchObject({ code: 'REQUEST_INVALID' })
})

it.each([{}, { character_count: null, character_limit: 10 }, { character_count: 7, character_limit: '10' }])(
  'knows no usage in %j: a guard must not let everything pass',
  async (body) => {
    const { client, fake } = await fakeClient()
    fake.script({ match: { op: 28 }, do: { status: 200, body } })
    expect(await failureOf(client.usage())).toMatchObject({ code: 'RESPONSE_INVALID', operation: 'usage' })
  },
)

it.each([{}, { character_limit: null }])('takes %j for an account without a limit, unless its key has one', async (limit) => {
  const { client, fake } = await fakeClient()
  const answer = (more: object) => fake.script({ match: { op: 28 }, do: { status: 200, body: { character_count: 7, ...limit, ...more } } })
  answer({})
  const usage = await client.usage()
  expect([usage.remaining(), usage.anyLimitReached(), usage.allows(1e15)]).toEqual([Number.POSITIVE_INFINITY, false, true])
  answer({ api_key_character_count: 3, api_key_character_limit: 10 })
  expect((await client.usage()).remaining()).toBe(7)
})

it('pages on without a total, to the page that is short', async () => {
  const { client, fake } = await fakeClient()
  const page = (...names: string[]) =>
    fake.script({ match: { op: 32 }, do: { status: 200, body: { translation_memories: names.map((name) => ({ name })) } } })
  page('a', 'b')
  page('c')
  expect(await client.translationMemories.iterate({ page_size: 2 }).toArray()).toMatchObject([{ name: 'a' }, { name: 'b' }, { name: 'c' }])
  expect(fake.requests(32)).toBe(2)
  for (const page_size of [0, 26, 1.5])
    expect(await failureOf(client.translationMemories.list({ page_size }))).toMatchObject({ code: 'REQUEST_INVALID', field: 'page_size' })
  expect(fake.requests(32)).toBe(2)
})
