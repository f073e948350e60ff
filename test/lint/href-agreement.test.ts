import { describe, expect, it } from 'vitest'
import { assetOf, bearer, createAuth, isAuthError } from '../../src/index.ts'
import { fixText } from '../../src/lint/fix/fix-text.ts'
import { lint } from '../../src/lint/index.ts'
import { EXTENSION } from '../harness/documents.ts'

const URL_OF_DOCUMENT = 'https://data.example/items/x.json'

const itemWith = (href: string, refs: readonly string[] | undefined = ['token']) => ({
  type: 'Feature',
  stac_version: '1.1.0',
  stac_extensions: [EXTENSION],
  id: 'x',
  geometry: null,
  properties: { datetime: '2026-01-01T00:00:00Z', 'auth:schemes': { token: { type: 'http', scheme: 'bearer' } } },
  links: [],
  assets: { data: { href, ...(refs && { 'auth:refs': refs }) } },
})

/** Characters that URL parsers read differently, and some that they do not. */
const CHARACTERS = [
  ...Array.from({ length: 0x22 }, (_, code) => String.fromCharCode(code)),
  ...['\u007f', '\\', '%', '%20', '%00', '@', '.', '..', '*', ':', '/', '//', '#', '?', '[', '{', '<', '|', '\u0085', '\u00a0'],
  ...['\u3002', '\u200b', '\ufeff', '\ud800', 'é', '~'],
]
const TEMPLATES = ['https://data.example/a_b.tif', 'https://data_.example/a', 'https://data.example_/a', 'https://_data.example/a']
const RELATIVE = ['a_b.tif', '_a.tif', '/a_', '../a.tif_', '?a=_']
const STORES = ['s3://bucket/a_b', 's3://bu_cket/a', 'gs://bucket/a_b', 'gs://bu_cket/a']

const HREFS = [
  ...[...TEMPLATES, ...RELATIVE, ...STORES].flatMap((template) => CHARACTERS.map((character) => template.replace('_', () => character))),
  ...['', '//data.example/a', '///a', '\\\\data.example\\a', 'https:a', 'https:/data.example/a', 'https:///a', 'https://', 'https://:443/'],
  ...[
    'https://user@data.example/a',
    'https://user:<password>@data.example/a',
    'https://user:pass@data.example/a',
    'https://@data.example/',
  ],
  ...[
    'ftp://data.example/a',
    'javascript:alert(1)',
    'data:,a',
    'blob:https://data.example/a',
    'abfs://a/b',
    'mailto:a@b.example',
    'C:\\a.tif',
  ],
  ...['http://data.example/a', 'http://data.example/a b', 'HTTPS://DATA.example/a', 'https://data.example:99999/a', 'https://1.2.3.4.5/a'],
  ...[
    'https://xn--a/',
    'https://data.example./a',
    'https://data.example.:443/a',
    'https://data.exam%70le/a',
    's3:bucket/a',
    'gs://Bucket/a',
  ],
  `https://data.example/${'a'.repeat(8192 - 'https://data.example/'.length)}`,
  `https://data.example/${'a'.repeat(8193 - 'https://data.example/'.length)}`,
]

const auth = createAuth({ credentials: [bearer('secret', 'https://data.example/')] })

async function refusalOf(href: string): Promise<{ code: string; message: string } | undefined> {
  try {
    await auth.authorize(assetOf(itemWith(href), 'data', { url: URL_OF_DOCUMENT }))
    return undefined
  } catch (error) {
    if (!isAuthError(error)) throw error
    const { code, message } = error
    // Another client may open it, so it is no error.
    if (code === 'URL_SCHEME_FORBIDDEN' && /^(?:ftp|abfs):/.test(href)) return undefined
    return /^URL_/.test(code) ? { code, message } : undefined
  }
}

const findingsAt = (href: string, preset: 'recommended' | 'strict' = 'strict', refs?: readonly string[]) =>
  lint(itemWith(href, refs), { preset }).filter(({ pointer, severity }) => pointer === '/assets/data/href' && severity === 'error')

describe('lint and authorize agree about the URL of an asset', () => {
  it('reports an error at the href exactly when authorize refuses it', async () => {
    const differences: string[] = []
    for (const href of HREFS) {
      const [refused, found] = [await refusalOf(href), findingsAt(href)]
      if ((refused !== undefined) !== found.length > 0)
        differences.push(`${JSON.stringify(href)}: ${refused?.code}, ${found.map(({ code }) => code)}`)
    }
    expect(differences).toEqual([])
  })

  it('uses the words of authorize, and finds one mistake once', async () => {
    let compared = 0
    for (const href of HREFS) {
      const [refused, found] = [await refusalOf(href), findingsAt(href)]
      const own = found.filter(({ code }) => code === 'href-invalid')
      if (own.length === 0) continue
      expect(own.map(({ message }) => message)).toEqual([refused?.message])
      if (refused?.code !== 'URL_INVALID') expect(found).toHaveLength(1)
      compared++
    }
    expect(compared).toBeGreaterThan(300)
  })

  it('leaves user info, plain http and local files to the rules that are about them', () => {
    expect(findingsAt('https://ada:hunter2-hunter2@data.example/a').map(({ code }) => code)).toEqual(['secret-in-document'])
    expect(findingsAt('http://data.example/a').map(({ code }) => code)).toEqual(['insecure-href'])
    const local = lint(itemWith('file:///a.tif'), { preset: 'strict' })
    expect(local.map(({ code }) => code)).toContain('scheme-href-mismatch')
    expect(local.map(({ code }) => code)).not.toContain('href-invalid')
  })

  it.each([
    'abfss://scenes@onelake.dfs.fabric.microsoft.com/a.tif',
    'abfs://a/b',
    'az://container/a.tif',
    'ftp://data.example/a',
    'hdfs://a/b',
  ])('says that other clients open %s, which is no error', (href) => {
    const found = lint(itemWith(href)).filter(({ pointer }) => pointer === '/assets/data/href')
    expect(found.map(({ code, severity }) => [code, severity])).toEqual([['href-scheme', 'info']])
    expect(found[0]?.message).toContain(href.slice(0, href.indexOf(':') + 1))
  })

  it.each(['javascript://data.example/%0aalert(1)', 'javascript:alert(1)', 'data:,a', 'az:container'])('calls %s an error', (href) => {
    expect(findingsAt(href, 'recommended').map(({ code }) => code)).toEqual(['href-invalid'])
  })

  it('says where a URL has spaces, which the suggestion encodes', () => {
    const text = JSON.stringify(itemWith('https://data.example/a b c%20d.tif'))
    expect(lint(JSON.parse(text)).map(({ code, severity }) => [code, severity])).toEqual([['href-space', 'warn']])
    const fixed = fixText(text, { suggestions: true })
    expect(JSON.parse(fixed.text).assets.data.href).toBe('https://data.example/a%20b%20c%20d.tif')
    expect(fixText(text).text).toBe(text)
  })

  it('checks only targets with auth:refs', () => {
    expect(findingsAt('https://data.example\\a.tif', 'recommended', [])).toEqual([])
    expect(findingsAt('https://data.example\\a.tif', 'recommended').map(({ code }) => code)).toEqual(['href-invalid'])
  })

  it('checks links and alternate assets, and does not need the URL of the document', () => {
    const item = {
      ...itemWith('https://data.example/a.tif'),
      links: [{ rel: 'child', href: 'a\tb', 'auth:refs': ['token'] }],
    }
    const asset = { ...item.assets.data, alternate: { other: { href: '//data.example/a', 'auth:refs': ['token'] } } }
    const problems = lint({ ...item, assets: { data: asset } })
    expect(problems.filter(({ code }) => code === 'href-invalid').map(({ pointer, message }) => [pointer, message])).toEqual([
      ['/assets/data/alternate/other/href', 'the URL of this asset leaves out its scheme'],
      ['/links/0/href', 'the URL of this link has a control character at character 2'],
    ])
  })
})
