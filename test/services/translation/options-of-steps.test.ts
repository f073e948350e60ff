import { describe, expect, it } from 'vitest'
import { failureOf } from '../../harness/failure.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { QUALITY, VOICE_JOB } from '../../servers/translation/known-good.ts'
import { HELLO, TXT } from './document-place.ts'
import { fakeClient } from './fake-client.ts'
import { gathered } from './voice-outcomes.ts'

const SOUND = new TextEncoder().encode('sound')

describe('members that are added to a body', () => {
  it('members that are added to a body go with the document, and with no question about it', async () => {
    const { client, fake, clock } = await fakeClient({ fake: { allowExtra: true } })
    await clock.run(client.translateDocument(HELLO, undefined, TXT, { extraBody: { future: true } }))
    expect(fake.log[0]?.body).toContain('name="future"\r\n\r\n1\r\n')
    expect(fake.log.slice(1).filter(({ body }) => body.includes('future'))).toEqual([])
    expect([10, 11].map((op) => fake.requests(op) > 0)).toEqual([true, true])
  })

  it('members that are added to a body go with an evaluation or a job, and with no question about it', async () => {
    const { client, fake, clock } = await fakeClient({ fake: { allowExtra: true } })
    const extraBody = { future: true }
    expect(await clock.run(client.quality.evaluate(QUALITY, { extraBody }))).toMatchObject({ status: 'done' })
    expect(await clock.run(gathered(client.voiceJobs.translate(VOICE_JOB, SOUND, { extraBody })))).toHaveLength(2)
    expect(fake.log.filter(({ body }) => body.includes('future')).map(({ op }) => op)).toEqual([47, 45])
  })
})

describe('what is said about the calls of one job', () => {
  it('never takes a key or a header to the hosts of its recordings', async () => {
    const { client, fake, clock } = await fakeClient({ fake: { allowExtra: true }, apiKey: 'not-this-one' })
    const credential = { type: 'apiKey', in: 'header', name: 'Authorization', prefix: 'DeepL-Auth-Key', value: 'test-pro' } as const
    const options = { credential, headers: { 'X-Own': 'own-value' }, query: { own: 'own-value' } }
    expect(await clock.run(gathered(client.voiceJobs.translate(VOICE_JOB, SOUND, options)))).toHaveLength(2)
    expect(fake.log.every(({ headers }) => headers['x-own'] === 'own-value')).toBe(true)
    const seen = JSON.stringify(fake.assets.log.map(({ rawHeaders, rawUrl }) => [rawHeaders, rawUrl]))
    expect(fake.assets.log).toHaveLength(3)
    for (const value of ['test-pro', 'not-this-one', 'own-value']) expect(seen).not.toContain(value)
  })

  it('takes no key there either when recordings are moved one by one', async () => {
    const { client, fake, clock } = await fakeClient()
    const credential = { type: 'apiKey', in: 'header', name: 'Authorization', prefix: 'DeepL-Auth-Key', value: 'test-pro' }
    const job = await client.voiceJobs.create(VOICE_JOB)
    await client.voiceJobs.upload(job, SOUND, { credential: unchecked(credential) })
    const { results } = await clock.run(client.voiceJobs.wait(job.job_id))
    await (await client.voiceJobs.download(results[0] ?? { status: '' }, { credential: unchecked(credential) })).data.cancel()
    expect(fake.assets.log.map(({ headers }) => headers.authorization?.split(' ')[0])).toEqual(['DeepL-Signature', 'DeepL-Signature'])
  })
})

describe('what is refused before anything is sent', () => {
  it('names its operation, and reports that there were no requests', async () => {
    const { client, fake } = await fakeClient()
    const long = 'x'.repeat(1025)
    const dictionary = { source_lang: 'en', target_lang: 'de', entries: 'no tab' }
    const instruction = { label: long, prompt: 'p' }
    const refused: readonly (readonly [operation: string, call: Promise<unknown>])[] = [
      ['glossaries.create', client.glossaries.create({ name: long, dictionaries: [] })],
      ['glossaries.update', client.glossaries.update('g', { name: long })],
      ['glossaries.putDictionary', client.glossaries.putDictionary('g', dictionary)],
      ['glossariesV2.create', client.glossariesV2.create({ name: 'n', ...dictionary })],
      ['translationMemories.list', client.translationMemories.list({ page_size: 26 })],
      ['styleRules.list', client.styleRules.list({ page_size: 0 })],
      ['styleRules.create', client.styleRules.create({ name: long, language: 'de' })],
      ['styleRules.rename', client.styleRules.rename('s', { name: long })],
      ['styleRules.instructions.create', client.styleRules.instructions.create('s', instruction)],
      ['styleRules.instructions.replace', client.styleRules.instructions.replace('s', 'i', instruction)],
      ['quality.submit', client.quality.submit({ ...QUALITY, segments: [] })],
      ['voiceJobs.create', client.voiceJobs.create({ ...VOICE_JOB, targets: [] })],
      [
        'voice.createSession',
        client.voice.createSession({ source_media_content_type: 'audio/auto', target_languages: Array(6).fill('de') }),
      ],
      ['voice.open', client.voice.open({ source_media_content_type: 'audio/auto' }, { speed: 3 })],
      ['translateMany', client.translateMany(['a'], { target_lang: '' }).toArray()],
      ['POST request', client.request('POST', '/v2/translate', { form: { text: [] } })],
      ['POST request', client.request('POST', '/v2/translate', { form: new URLSearchParams('text=a') as never })],
      ['POST request', client.request('POST', '/v2/translate', { form: { text: 'a' }, body: 'text=b' })],
      ['POST request', client.request('POST', '/v2/translate', { form: { text: 'a' }, json: { text: ['b'] } })],
    ]
    const failures = await Promise.all(refused.map(([, call]) => failureOf<{ operation: string; attempts: number }>(call)))
    expect(failures.map(({ name, operation, attempts }) => [name, operation, attempts])).toEqual(
      refused.map(([operation]) => ['ValidationError', operation, 0]),
    )
    expect(fake.log).toHaveLength(0)
  })

  it('what is refused before anything is sent is one text of many, which a form cannot carry', async () => {
    const { client } = await fakeClient()
    const outcomes: unknown[] = []
    for await (const outcome of client.translateMany(['a', '\ud800', 'b'], { target_lang: 'DE' }, { encoding: 'form' }))
      outcomes.push(outcome)
    expect(outcomes).toMatchObject([
      { index: 0, translation: { text: '[DE] a' } },
      { index: 1, notSent: false, error: { code: 'REQUEST_INVALID', attempts: 0, operation: 'translateText' } },
      { index: 2, translation: { text: '[DE] b' } },
    ])
  })

  it('what is refused before anything is sent is a type that is wrong, in our words', async () => {
    const { client } = await fakeClient()
    for (const custom_instructions of ['be kind', [undefined]])
      await expect(client.translateText({ text: 'a', target_lang: 'DE', custom_instructions } as never)).rejects.toThrow(
        new TypeError('custom_instructions must be an array of strings'),
      )
  })
})

describe('what fails in one of several steps', () => {
  const handle = { document_id: 'A'.repeat(32), document_key: 'B'.repeat(64) }

  it('reports which one, and how often was asked', async () => {
    const { client, fake, clock } = await fakeClient()
    const status = (body: object) => fake.script({ match: { op: 10 }, do: { status: 200, body: { document_id: 'A', ...body } } })
    status({ status: 'queued' })
    status({ status: 'error', error_message: { reason: 'odd' } })
    expect(await clock.run(failureOf(client.documents.resume(handle, undefined)))).toMatchObject({
      code: 'DOCUMENT_FAILED',
      message: 'the document could not be translated',
      ...{ operation: 'documents.status', attempts: 2 },
    })
    status({ status: 'translating' })
    expect(await clock.run(failureOf(client.documents.wait(handle, { totalTimeout: 500 })))).toMatchObject({
      code: 'TIMEOUT_TOTAL',
      ...{ operation: 'documents.status', attempts: 1, lastState: 'translating' },
    })
    fake.script({ match: { op: 11 }, do: { status: 503 } })
    expect(await failureOf(client.documents.download(handle, undefined))).toMatchObject({
      code: 'DOCUMENT_GONE',
      ...{ operation: 'documents.download', attempts: 2 },
    })
  })

  it('keeps its answer beside a record that has members of the same names', async () => {
    const { client, fake } = await fakeClient()
    fake.script({ match: { op: 28 }, do: { status: 200, body: { character_count: 1, character_limit: 2, response: 'theirs' } } })
    const usage = await client.usage()
    expect([usage.response.status, Object.keys(usage)]).toEqual([200, ['character_count', 'character_limit']])
  })
})
