import { describe, expect, it } from 'vitest'
import { selectFiles } from '../../../src/node/download/selected-files.ts'
import { packedJob, readDone, readFileResults, readJob, readProgress, settingsIn, targetsIn } from '../../../src/node/queue/download-job.ts'
import { itemWith, KEY_SCHEME } from '../../cli/items.ts'

const item: Readonly<Record<string, unknown>> = {
  ...itemWith(
    {
      data: {
        href: './a.tif?part=1',
        'auth:refs': ['key'],
        'file:size': 7,
        alternate: { near: { href: 'https://near.example/a.tif' } },
      },
      other: { href: './b.tif' },
    },
    { schemes: { key: KEY_SCHEME } },
  ),
  id: 'i1',
}
const catalog = { type: 'Catalog', 'auth:schemes': { key: KEY_SCHEME }, links: [] }
const url = 'https://catalog.example/items/i1.json?token=typed'
const files = [...selectFiles({ document: item, url, parents: [catalog] }, {})]
const planned = files.map((selected, index) => ({
  planned: {
    selected,
    file: {
      number: index + 1,
      name: `i1/f${index}.tif`,
      path: `/x/i1/f${index}.tif`,
      url: 'https://catalog.example/items/a.tif',
      pointer: '',
    },
  },
  known: {},
}))
const made = () => packedJob({ run: 'r', settings: { perHost: 4 }, lists: false }, planned)
/** As it comes back from a queue. */
const travelled = <T>(value: T): T => JSON.parse(JSON.stringify(value))
const job = () => travelled(made())

describe('a download job', () => {
  it('has the targets of its files again, with their documents but not the assets of these', () => {
    const read = readJob(job())
    expect(read.documents.length).toBe(2)
    expect(read.documents[0]).toMatchObject({ id: 'i1', assets: {}, properties: item.properties })
    const targets = read.files.map((selected) => targetsIn(selected, read.documents))
    expect(targets.map((one) => one.length)).toEqual([2, 1])
    const [[asset, alternate] = []] = targets
    const [original, near] = files[0]?.targets ?? []
    expect({ ...asset, scope: undefined }).toEqual({ ...original, scope: undefined })
    expect({ ...alternate, scope: undefined }).toEqual({ ...near, scope: undefined })
    expect(asset?.scope).toMatchObject({ at: '', url: 'https://catalog.example/items/i1.json', parents: [{ document: catalog }] })
  })

  it('contains no query of the URL that a document was read from, which may be a key', () => {
    expect(JSON.stringify(made())).not.toContain('typed')
  })

  const file = () => job().files[0] as unknown as Record<string, unknown>
  const withFile = (more: object) => ({ ...job(), files: [{ ...file(), ...more }] })
  const withTarget = (more: object) => withFile({ targets: [{ ...(file().targets as object[])[0], ...more }] })

  it.each([
    'a/../../b',
    '../b',
    '/b',
    'a//b',
    'a/./b',
    'a\\b',
    '.ssh/config',
    '.stac-auth-manifest',
    'a.part',
    'a.part.json',
    'a/b.part.lock',
    'con',
    'a\u0000b',
    'a/\u202eb',
    '-rf',
    '',
    7,
  ])('is refused with the name %j, which no plan makes', (name) => {
    expect(() => readJob(withFile({ name }))).toThrow('not a job of stac-auth download: files[0].name is missing or out of bounds')
  })

  it('may have the names that Zarr requires', () => {
    expect(readJob(withFile({ name: 'i1/a.zarr/.zarray' }))).toBeDefined()
    expect(() => readJob(withFile({ name: '.zarray/x' }))).toThrow(TypeError)
  })

  it.each([
    ['null', () => null],
    ['a text', () => 'job'],
    ['an unknown setting', () => ({ ...job(), settings: { folder: '/etc' } })],
    ['a setting of another type', () => ({ ...job(), settings: { retries: 'many' } })],
    ['a negative rate', () => ({ ...job(), settings: { rate: -1 } })],
    ['a timeout that no timer can wait for', () => ({ ...job(), settings: { stallTimeout: 1e300 } })],
    ['a wait without end', () => ({ ...job(), settings: { wait: Number.MAX_VALUE } })],
    ['a rate that is nearly nothing', () => ({ ...job(), settings: { rate: 1e-300 } })],
    ['a million retries', () => ({ ...job(), settings: { retries: 1e6 } })],
    ['a million requests at a time', () => ({ ...job(), settings: { perHost: 1e6 } })],
    ['a million ranges', () => ({ ...job(), settings: { ranges: 1e6 } })],
    ['a size that is not whole', () => withFile({ size: 1.5 })],
    ['a limit of a negative size', () => withFile({ sizeLimits: { minSize: -1 } })],
    ['33 files', () => ({ ...job(), files: Array.from({ length: 33 }, file) })],
    ['no target', () => withFile({ targets: [] })],
    ['a document that is not there', () => withTarget({ document: 2 })],
    ['a document before the first', () => withTarget({ document: -1 })],
    ['a parent that is not there', () => withTarget({ parents: [{ document: 9 }] })],
    ['an unknown kind of target', () => withTarget({ kind: 'file' })],
    ['references that are not texts', () => withTarget({ refs: [{}] })],
    ['a suffix that leads out of the folder', () => withFile({ suffix: '/../x' })],
    ['a suffix of a program', () => withFile({ suffix: '.exe' })],
    ['a malformed entry', () => withFile({ known: { path: 'x' } })],
    ['documents that are not objects', () => ({ ...job(), documents: ['x', 'y'] })],
  ])('is refused with %s', (_, value) => {
    expect(() => readJob(value())).toThrow(/^not a job of stac-auth download(: [a-zA-Z.[\]0-9]+ is missing or out of bounds)?$/)
  })
})

describe('the settings of a job', () => {
  it('are the options of the download within the bounds that workers accept', () => {
    const given = {
      stallTimeout: 1e300,
      wait: Number.POSITIVE_INFINITY,
      retries: 1e9,
      perHost: 1e6,
      rate: 1e-300,
      existing: 'keep' as const,
    }
    const settings = settingsIn(given)
    expect(settings).toMatchObject({ stallTimeout: 604_800_000, wait: 604_800_000, retries: 10_000, perHost: 256, existing: 'keep' })
    expect(readJob({ ...job(), settings: travelled(settings) }).settings).toEqual(settings)
  })
})

const result = { kind: 'written', bytes: 1, attempt: 'w-1', received: 1, resumable: 0, verified: ['length'], retries: 0, warnings: [] }
const entry = { path: 'a.tif', url: 'https://d.example/a', size: 1, sha256: '0'.repeat(64), time: '2026-01-01T00:00:00.000Z' }
const expected = [{ name: 'a', url: 'https://d.example/a' }]

describe('the results of a download job', () => {
  it('are those of its files, with errors that are errors again', () => {
    const error = { code: 'HTTP_404', message: 'gone', status: 404, cause: 'x', stack: 'y' }
    expect(readFileResults([{ ...result, suffix: '.tif', entry }], expected)).toMatchObject([{ kind: 'written', suffix: '.tif', entry }])
    const [failed] = readFileResults([{ ...result, kind: 'failed', error }], expected) ?? []
    expect(failed?.error).toMatchObject({ name: 'AuthError', code: 'HTTP_404', message: 'gone', status: 404, retryable: false })
    expect(failed?.error?.cause).toBeUndefined()
  })

  it.each([
    ['another number of files', [result, result]],
    ['an unknown kind', [{ ...result, kind: 'deleted' }]],
    ['a suffix that leads elsewhere', [{ ...result, suffix: '/../../x' }]],
    ['an entry of another file', [{ ...result, entry }]],
    ['an entry of another URL', [{ ...result, suffix: '.tif', entry: { ...entry, url: 'https://x.example/' } }]],
    ['a failure without a reason', [{ ...result, kind: 'failed' }]],
    ['a reason without a code', [{ ...result, kind: 'failed', error: { code: 'x y', message: '' } }]],
    ['an unknown check', [{ ...result, verified: ['signature'] }]],
    ['a negative size', [{ ...result, bytes: -1 }]],
    ['a text', 'x'],
  ])('are refused with %s', (_, value) => {
    expect(readFileResults(value, expected)).toBeUndefined()
  })

  it('report progress of their own files only', () => {
    const right = { file: 0, attempt: 'w-1', received: 3, bytes: 5, size: 9, resumed: 2 }
    expect(readProgress([right, { ...right, file: 1 }, { ...right, bytes: -5 }, null, 'x'], 1)).toEqual([right])
    expect(readProgress(right, 1)).toEqual([])
  })
})

describe('the note of a complete file', () => {
  it('is read for that name and URL, with a suffix of the server', () => {
    const noted = { ...entry, suffix: '.tif' }
    expect(readDone(JSON.stringify({ run: 'r', entry: noted }), { name: 'a', url: entry.url })).toEqual({ run: 'r', entry: noted })
  })

  it.each([
    ['nothing', null],
    ['no JSON', '{'],
    ['no entry', '{"run":"r"}'],
    ['another name', JSON.stringify({ run: 'r', entry: { ...entry, path: 'b' } })],
    ['another URL', JSON.stringify({ run: 'r', entry: { ...entry, path: 'a', url: 'https://x.example/' } })],
  ])('is ignored with %s', (_, text) => {
    expect(readDone(text, { name: 'a', url: entry.url })).toBeUndefined()
  })
})
