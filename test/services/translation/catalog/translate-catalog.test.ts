import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type CatalogTranslationOptions, translateCatalog } from '../../../../src/services/translation/catalog/translate-catalog.ts'
import { failureOf } from '../../../harness/failure.ts'
import { fakeClient } from '../fake-client.ts'

const EXTENSION = 'https://stac-extensions.github.io/language/v1.0.0/schema.json'
const item = readFileSync(new URL('../../../../examples/items/sentinel-2.json', import.meta.url), 'utf8')

const collection = `{
    "type": "Collection", "id":"s2",
    "stac_extensions": ["https://e.example/v1/schema.json"],
    "title": "Scenes",   "description": "# Scenes\\n\\nUse **all** of \`B04\`, see [guide](https://e.example/).",
    "keywords": [ "forest", "Scenes" ],
    "license": "other", "extent": {},
    "providers": [{"name": "Agency", "description": "Builds *satellites*"}],
    "summaries": {"title": ["no text"]},
    "auth:schemes": {"key": {"type": "apiKey", "name": "title", "in": "header", "description": "Ask us"}},
    "links": [{"rel": "root", "href": "./catalog.json", "title": "Scenes", "hreflang": "en"}],
    "assets": {"title": {"href": "./a.tif", "roles": ["title"], "title": "Overview", "bands": [{"name": "B04", "description": "Red"}]}},
    "item_assets": {"data": {"title": "Data", "description": "  "}}
}
`

/** A client that answers with what the function makes of each text. */
function stand(translate: (text: string) => string) {
  const sent: string[] = []
  const client = {
    translateMany: (texts: Iterable<string>) => ({
      toArray: async () => {
        sent.push(...texts)
        return [...texts].map((text) => ({ text: translate(text), detected_source_language: 'EN' }))
      },
      [Symbol.asyncIterator]: () => {
        throw new Error('not asked for')
      },
    }),
  }
  return { client, sent }
}
const options: CatalogTranslationOptions = { target_lang: 'DE' }

describe('the copy of a catalog', () => {
  it('the copy of a catalog is made of a text with a million blanks in it', async () => {
    const { client } = stand((original) => original)
    const blanks = `a${' '.repeat(1_000_000)}b`
    const { text } = await translateCatalog(client, `{"type": "Catalog", "description": "${blanks}", "links": []}`, options)
    expect(
      text ===
        `{"type": "Catalog", "description": "${blanks}", "links": [], "language": {"code":"de"}, "languages": [{"code":"en"}], "stac_extensions": ["${EXTENSION}"]}`,
    ).toBe(true)
  })

  it('differs in texts and in the fields of the Language extension, and in nothing else', async () => {
    const { client } = await fakeClient()
    const copy = await translateCatalog(client, collection, options)
    const expected = collection
      .replace('"https://e.example/v1/schema.json"]', `"https://e.example/v1/schema.json","${EXTENSION}"]`)
      .replace('"title": "Scenes",   ', '"title": "[DE] Scenes",   ')
      .replace('# Scenes', '# [DE] Scenes')
      .replace('Use **all**', '[DE] Use **all**')
      .replace('[ "forest", "Scenes" ]', '[ "[DE] forest", "[DE] Scenes" ]')
      .replace('Builds', '[DE] Builds')
      .replace('Ask us', '[DE] Ask us')
      .replace('"title": "Scenes", "hreflang"', '"title": "[DE] Scenes", "hreflang"')
      .replace('"Overview"', '"[DE] Overview"')
      .replace('"Red"', '"[DE] Red"')
      .replace('"title": "Data", "description"', '"title": "[DE] Data", "description"')
    const [before, after] = copy.text.split(/,\s*"language": (?=\{)/)
    expect(`${before}\n}\n`).toBe(expected)
    expect(JSON.parse(`{"language": ${after}`)).toEqual({ language: { code: 'de' }, languages: [{ code: 'en' }] })
    expect(copy).toMatchObject({ places: 10, sent: 8, kept: [] })
  })

  it('the copy of a catalog of an item has the fields in properties, also where there was no extension', async () => {
    const { client } = await fakeClient()
    const bare = '{"type":"Feature","id":"a","properties":{},"assets":{"a":{"href":"a","title":"Band"}},"links":[]}'
    expect((await translateCatalog(client, bare, options)).text).toBe(
      `{"type":"Feature","id":"a","properties":{"language":{"code":"de"},"languages":[{"code":"en"}]},"assets":{"a":{"href":"a","title":"[DE] Band"}},"links":[],"stac_extensions":["${EXTENSION}"]}`,
    )
    const copy = JSON.parse((await translateCatalog(client, item, options)).text)
    const original = JSON.parse(item)
    expect(copy.properties.language).toEqual({ code: 'de' })
    for (const document of [copy, original]) {
      delete document.properties['auth:schemes'].s3.description
      for (const name of ['language', 'languages', 'title', 'description']) delete document.properties[name]
      for (const part of [...Object.values<Record<string, unknown>>(document.assets), ...document.links]) delete part.title
      document.stac_extensions = document.stac_extensions.filter((url: string) => url !== EXTENSION)
    }
    expect(copy).toEqual(original)
  })

  it('the copy of a catalog of lists has each document in its own language', async () => {
    const { client } = await fakeClient()
    const features = [
      {
        type: 'Feature',
        properties: { title: 'One', language: { code: 'en', name: 'English' }, languages: [{ code: 'fr' }, { code: 'de' }] },
      },
      { type: 'Feature', properties: { title: 'Zwei', language: { code: 'de' } } },
    ]
    const copy = await translateCatalog(client, JSON.stringify({ type: 'FeatureCollection', features }), options)
    expect(JSON.parse(copy.text)).toEqual({
      type: 'FeatureCollection',
      features: [
        {
          type: 'Feature',
          properties: { title: '[DE] One', language: { code: 'de' }, languages: [{ code: 'fr' }, { code: 'en', name: 'English' }] },
          stac_extensions: [EXTENSION],
        },
        features[1],
      ],
    })
    const list = '{"collections":[{"type":"Collection","title":"a"}],"links":[]}'
    expect((await translateCatalog(client, list, options)).text).toContain('"title":"[DE] a"')
  })

  it('writes codes as RFC 5646 does, and the direction of the script', async () => {
    const { client } = await fakeClient()
    const text = '{"type":"Catalog","title":"a"}'
    expect(JSON.parse((await translateCatalog(client, text, { target_lang: 'AR' })).text).language).toEqual({ code: 'ar', dir: 'rtl' })
    expect(JSON.parse((await translateCatalog(client, text, { target_lang: 'ZH-HANS', source_lang: 'EN' })).text)).toMatchObject({
      language: { code: 'zh-Hans' },
      languages: [{ code: 'en' }],
    })
  })

  it('keeps the byte order mark and line ends, and of names that stand twice the last counts', async () => {
    const { client } = await fakeClient()
    const copy = await translateCatalog(client, '\ufeff{\r\n\t"type": "Catalog",\r\n\t"title": "a", "title": "b"\r\n}\r\n', options)
    expect(copy.text).toMatch(/^\ufeff\{\r\n\t"type": "Catalog",\r\n\t"title": "a", "title": "\[DE\] b",/)
    expect(copy.text.replaceAll('\r\n', '')).not.toContain('\n')
  })
})

describe('the service', () => {
  it('the service is sent each text once, prose with tags apart from the rest', async () => {
    const { client, fake } = await fakeClient()
    await translateCatalog(client, collection, { ...options, formality: 'prefer_more' })
    const bodies = fake.log.map(({ body }) => JSON.parse(body.toString()))
    expect(bodies).toEqual([
      { target_lang: 'DE', formality: 'prefer_more', text: ['Scenes', 'forest', 'Ask us', 'Overview', 'Red', 'Data'] },
      {
        target_lang: 'DE',
        formality: 'prefer_more',
        tag_handling: 'xml',
        outline_detection: false,
        ignore_tags: ['x'],
        text: ['Use <g i="1">all</g> of <x i="5">`B04`</x>, see <g i="7">guide</g>.', 'Builds <g i="1">satellites</g>'],
      },
    ])
  })

  it('the service is asked for nothing when the document is in that language', async () => {
    const { client, sent } = stand((original) => original)
    const text = '{"type":"Catalog","title":"a","language":{"code":"de"}}'
    expect(await translateCatalog(client, text, options)).toEqual({ text, places: 0, sent: 0, characters: 0, kept: [] })
    expect(sent).toEqual([])
  })

  it('the service may lose markup: then that paragraph stays, and its place is reported', async () => {
    const { client } = stand((text) => text.replace(/<[^>]*>/g, '').toUpperCase())
    const copy = await translateCatalog(client, '{"type":"Catalog","title":"a","description":"one\\n\\n*two*"}', options)
    expect(JSON.parse(copy.text)).toMatchObject({ title: 'A', description: 'ONE\n\n*two*' })
    expect(copy.kept).toEqual(['/description'])
  })

  it.each([{ type: 'Catalog' }, Buffer.from('{}'), undefined])('the service is sent nothing of what is not text: %j', async (given) => {
    const { client, sent } = stand((text) => text)
    await expect(translateCatalog(client, given as never, options)).rejects.toThrow('takes the text of the document')
    expect(sent).toEqual([])
  })

  it('the service that fails leaves no copy', async () => {
    const { client } = await fakeClient({ apiKey: 'test-wrong' })
    expect(await failureOf(translateCatalog(client, collection, options))).toMatchObject({ code: 'BATCH_INCOMPLETE' })
  })
})

describe('what is no catalog', () => {
  it.each([
    ['{"type":"Polygon"}', 'TARGET_NOT_FOUND'],
    ['{"type":"FeatureCollection","features":[]}', 'TARGET_NOT_FOUND'],
    ['[]', 'DOC_NOT_JSON'],
    ['{', 'DOC_NOT_JSON'],
  ])('%s', async (text, code) => {
    const { client, sent } = stand((one) => one)
    expect(await failureOf(translateCatalog(client, text, options))).toMatchObject({ code })
    expect(sent).toEqual([])
  })
})

it('words of the service give a description no other form', async () => {
  const description = 'First of May\\n\\n- one\\n\\n| a | b |\\n|---|---|\\n| c | d |\\n\\nplain'
  const answers: Readonly<Record<string, string>> = { 'First of May': '1. Mai', one: '# eins', c: 'c | <b', d: 'd | e', plain: '<script>' }
  const { client } = stand((text) => answers[text] ?? text)
  const copy = await translateCatalog(client, `{"type":"Catalog","title":"First of May","description":"${description}"}`, options)
  expect(JSON.parse(copy.text)).toMatchObject({
    title: '1. Mai',
    description: '1\\. Mai\n\n- \\# eins\n\n| a | b |\n|---|---|\n| c | d \\| e |\n\nplain',
  })
  expect(copy.kept).toEqual(['/description'])
})
