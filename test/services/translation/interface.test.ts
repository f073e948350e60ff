import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { HttpRequest, HttpResponse, Transport } from '../../../src/http/message.ts'
import { operations } from '../../../src/services/translation/operations.ts'
import { DICTIONARY, INSTRUCTION, QUALITY, STYLE, VOICE, VOICE_JOB } from '../../servers/translation/known-good.ts'
import { transport } from '../client/service.ts'
import { HELLO, TXT } from './document-place.ts'
import { fakeClient } from './fake-client.ts'
import { gathered } from './voice-outcomes.ts'

/** A type by name (`?` allows null), a list of one type, or members with their types; those with `*` are required. */
type Type = string | readonly [Type] | { readonly [member: string]: Type }

interface Described {
  readonly request: string
  readonly query?: { readonly [name: string]: Type }
  readonly body?: Type
  readonly answers: { readonly [status: string]: Type }
}

/** Facts of version 3.11.0 of the interface description, an operation each, in the order of their numbers. */
const INTERFACE: readonly Described[] = JSON.parse(
  readFileSync(new URL('../../../fixtures/translation-interface.json', import.meta.url), 'utf8'),
)

/** Returns what does not fit a type, by place. */
function problems(value: unknown, type: Type, at: string): string[] {
  if (Array.isArray(type)) {
    if (!Array.isArray(value)) return [`${at}: not a list`]
    return value.flatMap((item, index) => problems(item, type[0], `${at}[${index}]`))
  }
  if (typeof type === 'string') return fits(value, type) ? [] : [`${at}: ${JSON.stringify(value)} is not ${type}`]
  const members = type as { readonly [member: string]: Type }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${at}: not an object`]
  const required = Object.keys(members).flatMap((name) => (name.endsWith('*') ? [name.slice(0, -1)] : []))
  const missing = required.filter((name) => !Object.hasOwn(value, name)).map((name) => `${at}.${name}: missing`)
  const wrong = Object.entries(value).flatMap(([name, member]) => {
    const known = members[name] ?? members[`${name}*`]
    return known === undefined ? [`${at}.${name}: unknown`] : problems(member, known, `${at}.${name}`)
  })
  return [...missing, ...wrong]
}

function fits(value: unknown, type: string): boolean {
  if (value === null) return type.endsWith('?')
  const name = type.replace('?', '')
  if (name === 'integer') return Number.isInteger(value)
  return name === 'any' || (name === 'object' ? typeof value === 'object' : typeof value === name)
}

/** Returns the description of the operation that a request is of. */
function described({ method, url }: HttpRequest): Described | undefined {
  const { pathname } = new URL(url)
  const isOf = ({ request }: Described) => new RegExp(`^${request.replace(/\{\w+\}/g, '[^/]+')}$`).test(`${method} ${pathname}`)
  return INTERFACE.find(isOf)
}

/** A query has texts only. */
function queryProblems(url: string, query: Described['query'] = {}): string[] {
  const members = Object.fromEntries([...new URL(url).searchParams])
  const texts = Object.fromEntries(Object.keys(query).map((name) => [name, 'string']))
  return problems(members, texts, 'query')
}

function bodyProblems({ headers, body }: HttpRequest, type: Type | undefined): string[] {
  const content = body === undefined ? undefined : Buffer.from(body as Uint8Array).toString()
  if (content === undefined || type === undefined) return content === type ? [] : ['body: not as described']
  if (headers['content-type'] === 'application/json') return problems(JSON.parse(content), type, 'body')
  const names = [...content.matchAll(/form-data; name="(\w+)"/g)].map(([, name = '']) => [name, ''])
  return problems(Object.fromEntries(names), type, 'body')
}

/** A transport that compares everything with the description, and remembers the operations. */
function compared(): { readonly transport: Transport; readonly found: string[]; readonly seen: Set<string> } {
  const [found, seen] = [[] as string[], new Set<string>()]
  const check = async (request: HttpRequest, options: Parameters<Transport>[1]): Promise<HttpResponse> => {
    const response = await transport(request, options)
    const operation = described(request)
    if (!operation) return response
    seen.add(operation.request)
    const type = operation.answers[response.status]
    const report = (list: readonly string[]) => found.push(...list.map((problem) => `${operation.request}: ${problem}`))
    report([...queryProblems(request.url, operation.query), ...bodyProblems(request, operation.body)])
    if (type === undefined) report([`status ${response.status}`])
    const bytes = async (limit: number) => {
      const content = await response.bytes(limit)
      if (type !== undefined && typeof type !== 'string') report(problems(JSON.parse(Buffer.from(content).toString()), type, 'answer'))
      return content
    }
    const { status, url, headers } = response
    return {
      status,
      url,
      headers,
      bytes,
      text: (limit) => response.text(limit),
      discard: () => response.discard(),
      toResponse: () => response.toResponse(),
    }
  }
  return { transport: check, found, seen }
}

it('every request, and every answer of the service in tests, is as the interface description says', async () => {
  const checked = compared()
  const { client, fake, clock } = await fakeClient({ transport: checked.transport, apiKey: 'test-admin', fake: { usageVersion: '3.11' } })
  const range = { start_date: '2026-05-01', end_date: '2026-06-30' }
  for (const group_by of ['', 'key', 'key_and_day'] as const) await client.admin.usage({ ...range, group_by } as never)
  await client.admin.customTagUsage({ ...range, aggregate_by: 'day' })
  const { key_id } = await client.admin.keys.create({ label: 'a' })
  await client.admin.keys.list()
  await client.admin.keys.rename({ key_id, label: 'b' })
  await client.admin.keys.setLimits({ key_id, characters: 5, speech_to_text_milliseconds: null })
  await client.admin.keys.deactivate({ key_id })
  await client.translateText({
    text: ['a'],
    target_lang: 'DE',
    show_billed_characters: true,
    model_type: 'quality_optimized',
    context: 'b',
  })
  await clock.run(client.translateDocument(HELLO, undefined, { ...TXT, formality: 'prefer_more' }))
  await client.glossariesV2.languagePairs()
  const { glossary_id } = await client.glossaries.create({ name: 'a', dictionaries: [DICTIONARY] } as never)
  await client.glossaries.list()
  await client.glossaries.get(glossary_id)
  await client.glossaries.update(glossary_id, { name: 'b' })
  await client.glossaries.entries(glossary_id, { source_lang: 'en', target_lang: 'de' })
  await client.glossaries.putDictionary(glossary_id, { ...DICTIONARY, target_lang: 'fr' } as never)
  await client.glossaries.deleteDictionary(glossary_id, { source_lang: 'en', target_lang: 'fr' })
  await client.glossaries.delete(glossary_id)
  const old = await client.glossariesV2.create({ name: 'a', ...DICTIONARY } as never)
  await client.glossariesV2.list()
  await client.glossariesV2.get(old.glossary_id)
  await client.glossariesV2.entries(old.glossary_id)
  await client.glossariesV2.delete(old.glossary_id)
  await client.rephraseText({ text: 'a', writing_style: 'simple' })
  await client.correctText({ text: 'a' })
  await client.usage()
  await client.languagesV2({ type: 'target' })
  await client.languages.resources()
  await client.languages.list({ resource: 'translate_text', include: ['beta'] })
  await client.translationMemories.list({ page: 0, page_size: 2 })
  const { style_id } = await client.styleRules.create(STYLE as never)
  await client.styleRules.list({ detailed: true })
  await client.styleRules.get(style_id)
  await client.styleRules.rename(style_id, { name: 'b' })
  await client.styleRules.setRules(style_id, { punctuation: { serial_comma: 'use' } })
  const { id } = await client.styleRules.instructions.create(style_id, INSTRUCTION)
  await client.styleRules.instructions.get(style_id, id)
  await client.styleRules.instructions.replace(style_id, id, INSTRUCTION)
  await client.styleRules.instructions.delete(style_id, id)
  await client.styleRules.delete(style_id)
  const { token } = await client.voice.createSession(VOICE as never)
  await client.voice.reconnect({ token })
  await clock.run(gathered(client.voiceJobs.translate(VOICE_JOB, new TextEncoder().encode('sound'))))
  await clock.run(client.quality.evaluate(QUALITY))
  expect(checked.found).toEqual([])
  expect(INTERFACE.map(({ request }) => request).filter((request) => !checked.seen.has(request))).toEqual([])
  expect(fake.log.every(({ status }) => (status ?? 0) < 300)).toBe(true)
})

it('the table of operations has the paths, queries, statuses and members of the description', () => {
  for (const { number, method, path, query = [], members = {}, elements = {}, answer } of Object.values(operations)) {
    const description = INTERFACE[number - 1]
    expect(`${method} ${path}`).toBe(description?.request)
    expect([...query].sort()).toEqual(
      Object.keys(description?.query ?? {})
        .map((name) => name.replace('*', ''))
        .sort(),
    )
    const [content] = Object.values(description?.answers ?? {})
    expect(content === 'nothing').toBe(answer === 'nothing')
    if (answer !== 'record') continue
    const names = Object.keys(content ?? {}).map((name) => name.replace('*', ''))
    expect(names).toEqual(expect.arrayContaining(Object.keys(members)))
    const lists = Object.values(content ?? {})
      .flatMap((type) => (Array.isArray(type) ? Object.keys(type[0]) : []))
      .map((name) => name.replace('*', ''))
    expect(lists).toEqual(expect.arrayContaining(Object.keys(elements)))
  }
})
