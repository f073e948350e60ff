import { describe, expect, it } from 'vitest'
import { GlossaryEntries } from '../../../src/services/translation/glossaries.ts'
import { failureOf } from '../../harness/failure.ts'
import { fakeClient } from './fake-client.ts'

const DE = { source_lang: 'en', target_lang: 'de' }
const FR = { source_lang: 'en', target_lang: 'fr' }
const LARGEST = 10_485_760
const words = (...pairs: [string, string][]) => pairs

/** Text of exactly so many bytes, every term in it fit to be sent. */
function textOf(bytes: number): string {
  const lines = Array.from({ length: bytes / 2048 }, (_, n) => `${String(n).padStart(1023, 's')}\t${'t'.repeat(1023)}`)
  return `${lines.join('\n')}t`
}

describe('glossaries', () => {
  it('glossaries are made, listed, read, changed and deleted', async () => {
    const { client, fake } = await fakeClient()
    const { glossaries } = client
    const made = await glossaries.create({
      name: 'Forest',
      dictionaries: [{ ...DE, entries: words(['canopy', 'Krone'], ['constructor', 'Erbauer']) }],
    })
    expect(made).toMatchObject({ name: 'Forest', dictionaries: [{ ...DE, entry_count: 2 }], response: { status: 201, attempts: 1 } })
    const { glossary_id: id } = made
    expect((await glossaries.list()).glossaries).toEqual([made])
    const changed = await glossaries.update(id, {
      name: 'Woods',
      dictionaries: [{ ...DE, entries: { canopy: 'Kronendach', leaf: 'Blatt' } }],
    })
    expect(changed).toMatchObject({ name: 'Woods', dictionaries: [{ entry_count: 3 }] })
    expect(await glossaries.putDictionary(id, { ...FR, entries: new Map([['leaf', 'feuille, "la"']]), entries_format: 'csv' })).toEqual({
      ...FR,
      entry_count: 1,
    })
    const entries = await glossaries.entries(id, DE)
    expect([...GlossaryEntries.parse(entries.entries, entries.entries_format)]).toEqual([
      ['canopy', 'Kronendach'],
      ['constructor', 'Erbauer'],
      ['leaf', 'Blatt'],
    ])
    expect(entries.response.status).toBe(200)
    expect((await glossaries.entries(id, { source_lang: 'EN', target_lang: 'FR' })).entries).toBe('leaf\tfeuille, "la"')
    expect(await glossaries.deleteDictionary(id, FR)).toMatchObject({ response: { status: 204 } })
    expect((await glossaries.get(id)).dictionaries).toEqual([{ ...DE, entry_count: 3 }])
    expect((await glossaries.delete(id)).response).toMatchObject({ status: 204, alreadyGone: false })
    expect(await failureOf(glossaries.delete(id))).toMatchObject({ code: 'HTTP_404', operation: 'glossaries.delete', attempts: 1 })
    expect(fake.log.every(({ headers }) => headers.authorization === 'DeepL-Auth-Key test-pro')).toBe(true)
  })

  it('glossaries are read in the other form of their entries too', async () => {
    const { client } = await fakeClient({ fake: { entriesShape: 'wrapped' } })
    const { glossary_id } = await client.glossaries.create({ name: 'a', dictionaries: [{ ...DE, entries: { a: 'b' } }] })
    expect(await client.glossaries.entries(glossary_id, DE)).toEqual({ ...DE, entries: 'a\tb', entries_format: 'tsv' })
    expect(await failureOf(client.glossaries.entries(glossary_id, FR))).toMatchObject({ code: 'HTTP_404' })
  })

  it.each([{ dictionaries: [] }, { dictionaries: [{ ...FR, entries: 'a\tb' }] }, { dictionaries: 1 }, DE])(
    'glossaries have no entries in %j',
    async (body) => {
      const { client, fake } = await fakeClient()
      fake.script({ match: { op: 18 }, do: { status: 200, body } })
      expect(await failureOf(client.glossaries.entries('x', DE))).toMatchObject({ code: 'RESPONSE_INVALID' })
    },
  )

  it('glossaries travel as forms on request', async () => {
    const { client, fake } = await fakeClient()
    const dictionaries = [
      { ...DE, entries: { 'a & b': 'c=d' } },
      { ...FR, entries: 'x\ty' },
    ]
    const made = await client.glossaries.create({ name: 'Ä', dictionaries }, { encoding: 'form' })
    expect(made.dictionaries).toHaveLength(2)
    expect(fake.log[0]?.headers['content-type']).toBe('application/x-www-form-urlencoded')
    expect((await client.glossaries.entries(made.glossary_id, DE)).entries).toBe('a & b\tc=d')
    expect(
      await failureOf(client.glossaries.putDictionary(made.glossary_id, { ...DE, entries: 'a\tb' }, { encoding: 'form' })),
    ).toMatchObject({ code: 'REQUEST_INVALID', field: 'encoding' })
  })

  it('glossaries are not made twice, and deleted once even when the answer is lost', async () => {
    const { client, fake, clock } = await fakeClient()
    const input = { name: 'a', dictionaries: [{ ...DE, entries: { a: 'b' } }] }
    fake.script({ match: { op: 13 }, do: { performThen: { status: 500 } } })
    expect(await failureOf(client.glossaries.create(input))).toMatchObject({ code: 'HTTP_500', attempts: 1 })
    expect(fake.state.glossaries.size).toBe(1)
    const [id = ''] = fake.state.glossaries.keys()
    fake.script({ match: { op: 17 }, do: { performThen: { status: 500 } } })
    const { response } = await clock.run(client.glossaries.delete(id))
    expect(response).toMatchObject({ alreadyGone: true, attempts: 2 })
  })

  it.each(['../../v2/usage', 'a/b', '.', '', '%2e%2e%2f'])('an id such as %j cannot redirect a glossary request', async (id) => {
    const { client, fake } = await fakeClient()
    const outcome = await client.glossaries.get(id).catch((error: unknown) => error)
    expect(outcome).toMatchObject({ code: expect.stringMatching(/^REQUEST_INVALID$|^HTTP_404$/) })
    expect(fake.log.every(({ rawUrl }) => /^\/v3\/glossaries\/[^/]+$/.test(rawUrl))).toBe(true)
  })
})

describe('limits of glossaries', () => {
  it('limits of glossaries hold before anything is sent', async () => {
    const { client, fake } = await fakeClient()
    const { glossaries } = client
    const dictionaries = [{ ...DE, entries: { a: 'b' } }]
    const refusals = await Promise.all(
      [
        glossaries.create({ name: 'ä'.repeat(513), dictionaries }),
        glossaries.create({ name: 'a', dictionaries: [{ ...DE, entries: 'a\tb\na\tc' }] }),
        glossaries.create({ name: 'a', dictionaries: [{ ...DE, entries: [['a ', 'b']] }] }),
        glossaries.update('x', { dictionaries: [...dictionaries, { ...FR, entries: { a: 'b' } }] }),
        glossaries.update('x', { name: 'a'.repeat(1025) }),
        glossaries.putDictionary('x', { ...DE, entries: 'no tab' }),
        client.glossariesV2.create({ name: 'a', ...DE, entries: 'a,b,c', entries_format: 'csv' }),
        client.glossariesV2.create({ name: 'a'.repeat(1025), ...DE, entries: 'a\tb' }),
      ].map((work) => failureOf<{ field: string }>(work)),
    )
    expect(refusals.map(({ name, field }) => `${name} ${field}`)).toEqual([
      'ValidationError name',
      'ValidationError entries',
      'ValidationError entries',
      'ValidationError dictionaries',
      'ValidationError name',
      'ValidationError entries',
      'ValidationError entries',
      'ValidationError name',
    ])
    expect(fake.log).toHaveLength(0)
  })

  it('limits of glossaries are left to the service where nothing is to be checked', async () => {
    const { client, fake } = await fakeClient({ validate: 'off' })
    const asked = await Promise.all(
      [
        client.glossaries.create({ name: 'a'.repeat(1025), dictionaries: [{ ...DE, entries: 'a\tb' }] }),
        client.glossaries.putDictionary('x', { ...DE, entries: 'no tab' }),
      ].map(failureOf),
    )
    expect(asked).toMatchObject([{ code: 'HTTP_400' }, { code: 'HTTP_404' }])
    expect(fake.log).toHaveLength(2)
    const document = await failureOf(client.glossaries.create({ name: 'a'.repeat(1025), dictionaries: [] }, { validate: 'document' }))
    expect(document).toMatchObject({ code: 'REQUEST_TOO_LARGE', limit: 1024 })
  })

  it.each<[string, 'tsv' | 'csv']>([
    [`a\tb\na\t${'ä'.repeat(513)}`, 'tsv'],
    [`"${'a'.repeat(1025)}",b`, 'csv'],
  ])('refuse a term of more than 1024 bytes in text, and with validate "document" nothing else: %#', async (entries, entries_format) => {
    const { client, fake } = await fakeClient({ validate: 'document' })
    const put = (text: string) => client.glossaries.putDictionary('x', { ...DE, entries: text, entries_format })
    expect(await failureOf(put(entries))).toMatchObject({ code: 'REQUEST_TOO_LARGE', field: 'entries', limit: 1024, attempts: 0 })
    expect(await failureOf(put('no columns'))).toMatchObject({ code: 'HTTP_404' })
    expect(fake.log).toHaveLength(1)
  })

  it('let 1024 bytes of a name and 10 485 760 bytes of entries pass, and not one more', async () => {
    const { client, fake } = await fakeClient()
    const entries = textOf(LARGEST)
    expect(Buffer.byteLength(entries)).toBe(LARGEST)
    const made = await client.glossaries.create({ name: 'ä'.repeat(512), dictionaries: [{ ...DE, entries }] })
    expect(made.dictionaries[0]?.entry_count).toBe(LARGEST / 2048)
    const more = [client.glossaries.putDictionary(made.glossary_id, { ...DE, entries: `${entries}\n` })]
    const together = client.glossaries.create(
      {
        name: 'a',
        dictionaries: [
          { ...DE, entries },
          { ...FR, entries: 'a\tb' },
        ],
      },
      { validate: 'document' },
    )
    for (const refused of await Promise.all([...more, together].map(failureOf)))
      expect(refused).toMatchObject({ code: 'REQUEST_TOO_LARGE', field: 'entries', limit: LARGEST })
    expect(fake.requests()).toBe(1)
  })
})

describe('the older glossaries', () => {
  it('the older glossaries are made, listed, read and deleted', async () => {
    const { client, fake } = await fakeClient({ fake: { glossaryReadyMs: 1000 } })
    const { glossariesV2 } = client
    const made = await glossariesV2.create({ name: 'Forest', ...DE, entries: 'canopy,Krone,en,de\nx,y,en,fr', entries_format: 'csv' })
    expect(made).toMatchObject({ name: 'Forest', ready: false, entry_count: 1, ...DE, response: { status: 201 } })
    fake.clock.advance(1000)
    expect((await glossariesV2.get(made.glossary_id)).ready).toBe(true)
    expect((await glossariesV2.list()).glossaries).toHaveLength(1)
    const read = await glossariesV2.entries(made.glossary_id)
    expect(read).toEqual({ entries: 'canopy\tKrone', entries_format: 'tsv' })
    expect(read.response.status).toBe(200)
    expect(fake.log.at(-1)?.headers.accept).toBe('text/tab-separated-values')
    expect((await glossariesV2.languagePairs()).supported_languages).toContainEqual(DE)
    await glossariesV2.delete(made.glossary_id)
    expect((await glossariesV2.list()).glossaries).toEqual([])
  })

  it('the older glossaries do not delete what the newer family has changed', async () => {
    const { client } = await fakeClient()
    const { glossary_id } = await client.glossaries.create({ name: 'a', dictionaries: [{ ...DE, entries: { a: 'b' } }] })
    expect(await failureOf(client.glossariesV2.delete(glossary_id))).toMatchObject({ name: 'PermissionError', attempts: 1 })
  })
})
