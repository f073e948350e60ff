import { mkdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { EXTENSION } from '../../harness/documents.ts'
import { put, temporaryFolder } from '../folder.ts'
import { itemWith } from '../items.ts'
import { lastError, run } from '../run.ts'
import { body, serve } from '../server.ts'

const folder = await temporaryFolder()
const href = 'https://data.example/f'
const clean = itemWith({ data: { href, 'auth:refs': ['key'] } })
const dangling = itemWith({ data: { href, 'auth:refs': ['key', 'gone'] } })
const POINTER = '/assets/data/auth:refs/1'

async function lint(argv: readonly string[], stdin?: string | Uint8Array) {
  const outcome = await run(['lint', '--format', 'json', ...argv], stdin === undefined ? {} : { stdin })
  return { ...outcome, ...(outcome.stdout && JSON.parse(outcome.stdout)) }
}
const ndjson = (...lines: readonly unknown[]) => lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')

describe('a document on each line', () => {
  it('a document on each line has its line number as position, whatever blank lines and carriage returns', async () => {
    const text = `${ndjson(clean, '', `${JSON.stringify(dangling)}\r`, '  ', clean)}\n`
    const { code, problems, summary } = await lint(['-'], text)
    expect([code, summary.documents]).toEqual([1, 3])
    expect(problems).toMatchObject([{ code: 'dangling-ref', pointer: POINTER, line: 3, endLine: 3, id: 'x' }])
  })

  it.each([
    ['a later line', ndjson(clean, '{"type":"Feature",', dangling), 2],
    ['the first line', ndjson('<html>', dangling, clean), 1],
    ['the last line, cut short', ndjson(dangling, clean, JSON.stringify(clean).slice(0, 40)), 3],
  ])('a document on each line may be broken in one place: %s is not JSON, the others are linted', async (_name, text, line) => {
    const { code, problems, summary } = await lint(['-'], text)
    expect([code, summary.documents]).toEqual([1, 3])
    expect(problems.map((problem: { code: string }) => problem.code).sort()).toEqual(['dangling-ref', 'not-json'])
    expect(problems.find((problem: { code: string }) => problem.code === 'not-json')).toMatchObject({ line })
  })

  it.each([
    ['indented', JSON.stringify(dangling, null, 2)],
    ['a list whose only element has a line of its own', `[\n${JSON.stringify(dangling)}\n]`],
    ['one line with an end', `${JSON.stringify(dangling)}\n\n`],
  ])('a document on each line is not what a document is that is %s', async (_name, text) => {
    const { problems, summary } = await lint(['-'], text)
    expect(summary.documents).toBe(1)
    expect(problems.map((problem: { code: string }) => problem.code)).toEqual(['dangling-ref'])
  })

  it('a document on each line may be larger than a document, but not on one line', async () => {
    const wide = `{"type":"Catalog","description":"${'x'.repeat(51 * 2 ** 20)}"}`
    const { code, problems, summary } = await lint(['-'], ndjson(clean, wide, dangling))
    expect([code, summary.documents]).toEqual([1, 3])
    expect(problems.map((problem: { code: string }) => problem.code)).toEqual(['document-limit', 'dangling-ref'])
  })
})

describe('lists without a document', () => {
  it('an empty list is an error, as the only document and on a line', async () => {
    const { code, problems, summary } = await lint(['-'], ndjson([], clean, []))
    expect([code, summary.documents]).toEqual([1, 3])
    expect(problems).toMatchObject([1, 3].map((line) => ({ code: 'empty-list', severity: 'error', pointer: '', line })))
    expect(await lint(['-'], '[]')).toMatchObject({ code: 1, problems: [{ code: 'empty-list', line: 1, column: 1 }] })
  })

  it('lines without an object are reported also beside other inputs, where whole files may be anything', async () => {
    const [lines, data, none, one] = [
      await put(folder, 'lines.ndjson', ndjson([], 5, [null, {}])),
      await put(folder, 'data.json', [1, 2]),
      await put(folder, 'none.json', []),
      await put(folder, 'one.json', clean),
    ]
    const { problems } = await lint([lines, data, none, one])
    expect(problems.map(({ code, line, pointer }: { code: string; line: number; pointer: string }) => [code, line, pointer])).toEqual([
      ['empty-list', 1, ''],
      ['unknown-document', 2, ''],
      ['unknown-document', 3, '/0'],
    ])
  })
})

describe('what gzip has packed', () => {
  it.each(['packed.ndjson.gz', 'packed.bin'])('what gzip has packed is told by its bytes, not by its name: %s', async (name) => {
    const path = await put(folder, name, gzipSync(ndjson(clean, dangling)))
    expect((await lint([path])).problems).toMatchObject([{ document: path, code: 'dangling-ref', line: 2 }])
  })

  it.each([
    ['cut short', (bytes: Buffer) => bytes.subarray(0, bytes.length - 10)],
    ['damaged', (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 10), Buffer.alloc(30, 0xff)])],
  ])('what gzip has packed and is %s is never taken as read', async (name, damage) => {
    const path = await put(folder, `${name}.json.gz`, damage(gzipSync(JSON.stringify(clean))))
    const outcome = await lint([path])
    expect([outcome.code, lastError(outcome).code]).toEqual([6, 'FILE_INTEGRITY'])
    expect(outcome.summary.incomplete).toEqual([{ url: path, code: 'FILE_INTEGRITY', message: expect.stringContaining(path) }])
  })

  it('what gzip has packed and grows without end is stopped at the size of a document', async () => {
    const path = await put(folder, 'bomb.json.gz', gzipSync(Buffer.alloc(60 * 2 ** 20, 0x20)))
    expect((await lint([path])).problems).toMatchObject([{ code: 'document-limit', document: path }])
  })
})

describe('documents in documents', () => {
  const schemes = { key: { type: 'apiKey', name: 'x', in: 'header' } }
  const bare = { ...itemWith({ data: { href, 'auth:refs': ['key'] } }), properties: { datetime: null } }

  it('documents in documents are counted, and see the schemes of what is around them', async () => {
    const wrapper = { type: 'FeatureCollection', features: [bare, bare, dangling], 'auth:schemes': schemes }
    const { problems, summary } = await lint(['-'], JSON.stringify(wrapper))
    expect(summary.documents).toBe(3)
    const found = problems.map(({ code, pointer }: { code: string; pointer: string }) => [code, pointer])
    expect(found).toContainEqual(['scheme-outside-document', '/auth:schemes/key'])
    expect(found).toContainEqual(['dangling-ref', '/features/2/assets/data/auth:refs/1'])
  })

  it('documents in documents are reported by their place in a list and in collections', async () => {
    const pointers = async (value: unknown) =>
      (await lint(['-'], JSON.stringify(value))).problems.map(({ pointer }: { pointer: string }) => pointer)
    expect(await pointers([clean, dangling])).toEqual([`/1${POINTER}`])
    expect(await pointers({ collections: [{ ...dangling, type: 'Collection', 'auth:schemes': schemes }] })).toContain(
      `/collections/0${POINTER}`,
    )
  })

  it('documents are read one by one from a file larger than a document, wherever the schemes stand', async () => {
    const filler = { ...clean, description: 'x'.repeat(2 ** 20) }
    const features = [...Array.from({ length: 52 }, () => JSON.stringify(filler)), JSON.stringify(dangling, null, 2), JSON.stringify(bare)]
    const text = `{"type":"FeatureCollection","stac_extensions":${JSON.stringify([EXTENSION])},\n"features": [\n  ${features.join(',\n  ')}\n],\n"auth:schemes":${JSON.stringify(schemes)}}`
    for (const [name, content] of [
      ['large.json', text],
      ['large.json.gz', gzipSync(text)],
    ] as const) {
      const path = await put(folder, name, content)
      const { code, problems, summary } = await lint([path])
      expect([code, summary.documents]).toEqual([1, 54])
      const ref = text.split('\n').findIndex((line) => line.includes('"gone"'))
      expect(problems).toMatchObject([
        {
          code: 'dangling-ref',
          pointer: `/features/52${POINTER}`,
          line: ref + 1,
          column: (text.split('\n')[ref]?.indexOf('"gone"') ?? 0) + 1,
        },
        { code: 'scheme-outside-document', pointer: '/features/53/assets/data/auth:refs/0', line: text.split('\n').length - 2 },
      ])
    }
  })
})

describe('globs and folders', () => {
  it('globs and folders match files below a folder in order of names, and no link that leads out', async () => {
    const tree = join(folder, 'tree')
    await mkdir(join(tree, 'b', 'node_modules'), { recursive: true })
    await put(tree, 'a.ndjson', ndjson(dangling, dangling))
    await put(tree, 'readme.txt', 'no document')
    await put(join(tree, 'b'), 'c.json', dangling)
    await put(join(tree, 'b', 'node_modules'), 'd.json', dangling)
    await symlink(join(folder, 'outside.json'), join(tree, 'b', 'e.json'))
    await symlink(folder, join(tree, 'b', 'out'))
    await put(folder, 'outside.json', dangling)
    const names = async (...argv: string[]) =>
      (await lint(argv)).problems.map(({ document }: { document: string }) => document.slice(tree.length + 1))
    expect(await names(tree)).toEqual(['a.ndjson', 'a.ndjson', 'b/c.json'])
    expect(await names(join(tree, '**/*.json'))).toEqual(['b/c.json'])
    expect(await names(join(tree, '*.{json,ndjson}'))).toEqual(['a.ndjson', 'a.ndjson'])
  })

  it('reads a file once that is named twice: by itself, in its folder, or by several globs', async () => {
    const place = join(folder, 'twice')
    await mkdir(join(place, 'inner'), { recursive: true })
    for (const name of ['a.json', 'inner/b.json']) await put(place, name, dangling)
    const [a, inner] = [join(place, 'a.json'), join(place, 'inner')]
    const documents = async (...argv: string[]) => {
      const { summary } = await lint(argv)
      return [summary.documents, summary.errors]
    }
    expect(await documents(a, a)).toEqual([1, 1])
    expect(await documents(place, a, inner)).toEqual([2, 2])
    expect(await documents(inner, place, `${inner}/b.json`)).toEqual([2, 2])
    expect(await documents(a, join(place, '*.json'))).toEqual([1, 1])
    expect(await documents(join(place, '**/*.json'), join(place, 'inner/*.json'))).toEqual([2, 2])
    expect(await documents(inner, join(place, '**/*.json'))).toEqual([2, 2])
    expect(await documents(join(place, 'inner/*.json'), inner, a)).toEqual([2, 2])
    expect(await documents(place)).toEqual([2, 2])
  })

  it('reads standard input once that is named twice', async () => {
    const { problems, summary } = await lint(['-', '-'], JSON.stringify(dangling))
    expect([summary.documents, problems.map(({ code }: { code: string }) => code)]).toEqual([1, ['dangling-ref']])
  })

  it.each(['no-such-*.json', 'no-such-folder/*.json'])('globs and folders that match nothing are a mistake: %s', async (glob) => {
    const path = await put(folder, 'one.json', clean)
    const outcome = await lint([path, join(folder, glob)])
    expect(outcome.summary.documents).toBe(1)
    expect(outcome.code).toBe(2)
    expect((await lint([path, join(folder, glob), '--no-fail-on-unmatched-globs'])).code).toBe(0)
  })

  it('a file or glob that begins with ! names the option that skips files', async () => {
    const path = await put(folder, 'one.json', clean)
    for (const name of ['drafts/*.json', 'one.json', path])
      expect((await run(['lint', path, `!${name}`])).stderr).toContain(`to skip files, use --ignore '${name}'`)
  })

  it('a folder with nothing but a Parquet file says that it must be named', async () => {
    const tree = join(folder, 'tables')
    await mkdir(tree)
    await put(tree, 'items.parquet', 'PAR1')
    const { code, stderr } = await run(['lint', tree])
    expect([code, stderr]).toEqual([2, expect.stringContaining('Parquet files that are named or matched by a glob')])
  })
})

describe('URLs', () => {
  it('URLs may hold many documents, packed ones too', async () => {
    const text = ndjson(clean, dangling)
    const server = await serve({ '/a.ndjson': body(text), '/b': body(gzipSync(text)) })
    const { problems, summary } = await lint([`${server.origin}a.ndjson`, `${server.origin}b`])
    expect(summary.documents).toBe(4)
    expect(problems.map(({ document, line }: { document: string; line: number }) => [document, line])).toEqual([
      [`${server.origin}a.ndjson`, 2],
      [`${server.origin}b`, 2],
    ])
  })
})

it('reads the same from a file as from standard input', async () => {
  const path = await put(folder, 'same.ndjson', ndjson(dangling, clean))
  const { problems } = await lint(['-', '--stdin-filename', path], await readFile(path))
  expect(problems).toEqual((await lint([path])).problems)
})
