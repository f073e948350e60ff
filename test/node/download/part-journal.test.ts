import { readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { PartJournal, type PartVersion, readPartJournal, type Span, Spans } from '../../../src/node/download/destination/part-journal.ts'
import { temporaryFolder } from '../../cli/folder.ts'

let folder: string
beforeAll(async () => {
  folder = await temporaryFolder()
})

let count = 0
const freshPath = () => join(folder, `${count++}.part.json`)

const version: PartVersion = { url: 'https://data.example/f.tif', validator: '"v1"', size: 100 }
const newer: PartVersion = { url: 'https://data.example/f.tif', validator: '"v2"', size: 90 }
const line = (value: unknown) => `\n${JSON.stringify(value)}`
const versionLine = (value: PartVersion) => line({ format: 1, ...value })

/** Ranges from text such as `0-5 7-9`, and back. */
const ranges = (text: string) =>
  new Spans(
    text
      .split(' ')
      .filter(Boolean)
      .map((range) => range.split('-').map(Number) as unknown as Span),
  )
const shown = (spans: Iterable<Span> | undefined) => Array.from(spans ?? [], ([start, end]) => `${start}-${end}`).join(' ')

async function recordOf(text: string) {
  const path = freshPath()
  await writeFile(path, text)
  const record = await readPartJournal(path)
  return record && { version: record.version, spans: shown(record.spans) }
}

/** Appends a version, if there is one, and ranges. */
function append(path: string, began: PartVersion | undefined, text: string): void {
  const journal = new PartJournal(path)
  if (began) journal.begin(began)
  for (const range of ranges(text)) journal.add(range)
  journal.close()
}

describe('a journal of a partial file', () => {
  it('is read as it was written: the last version, and the ranges after it', async () => {
    const path = freshPath()
    append(path, version, '0-50')
    append(path, newer, '0-10 20-30')
    expect(await readPartJournal(path)).toEqual({ version: newer, spans: ranges('0-10 20-30') })
  })

  it('keeps every member of a version', async () => {
    const full: PartVersion = { ...version, modified: 'Sun, 22 Nov 2026 10:00:00 GMT', stored: 'gzip', suffix: '.tar.gz' }
    expect((await recordOf(versionLine(full)))?.version).toEqual(full)
  })

  it('has no version before one is known, and then its ranges belong to none', async () => {
    expect(await recordOf(line({ format: 1 }) + line([0, 5]))).toEqual({ version: undefined, spans: '0-5' })
  })

  it('ignores a version line that was cut, wherever the cut is, and begins its next line anew', async () => {
    const whole = versionLine(newer)
    for (let length = 1; length < whole.length; length++) {
      const path = freshPath()
      await writeFile(path, versionLine(version) + line([0, 50]) + whole.slice(0, length))
      expect(await readPartJournal(path)).toEqual({ version, spans: ranges('0-50') })
      append(path, newer, '0-7')
      expect(await readPartJournal(path)).toEqual({ version: newer, spans: ranges('0-7') })
    }
  })

  it('ignores a range that was cut, and one that follows it is read', async () => {
    const path = freshPath()
    await writeFile(path, `${versionLine(version)}\n[0,5`)
    append(path, undefined, '60-70 75-80')
    expect(shown((await readPartJournal(path))?.spans)).toBe('60-70 75-80')
  })

  it('is gone after its removal, and who has it open writes into no other one', async () => {
    const path = freshPath()
    const [journal, other] = [new PartJournal(path), new PartJournal(path)]
    journal.remove()
    await expect(readFile(path)).rejects.toMatchObject({ code: 'ENOENT' })
    append(path, version, '5-6')
    other.add([90, 100])
    other.close()
    expect(shown((await readPartJournal(path))?.spans)).toBe('5-6')
    await rm(path)
    new PartJournal(path).remove()
  })

  it.runIf(process.platform === 'linux')('is closed at its end and at its removal', async () => {
    const openFiles = async () => {
      const names = await readdir('/proc/self/fd')
      const paths = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')))
      return paths.filter((path) => path.startsWith(folder))
    }
    const [closed, removed] = [new PartJournal(freshPath()), new PartJournal(freshPath())]
    expect(await openFiles()).toHaveLength(2)
    closed.close()
    removed.remove()
    expect(await openFiles()).toEqual([])
  })

  it('can be read by its owner only', async () => {
    const path = freshPath()
    append(path, version, '')
    if (process.platform !== 'win32') expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  it.each([
    ['without a first line of ours', line([0, 5])],
    ['of another format', line({ format: 2, ...version })],
    ['that is a list', line([{ format: 1 }])],
    ['that is empty', ''],
  ])('is not ours, a file %s', async (_, text) => {
    expect(await recordOf(text)).toBeUndefined()
  })

  it.each<[string, unknown]>([
    ['without a URL', { ...version, url: undefined }],
    ['with a URL that is a number', { ...version, url: 1 }],
    ['without a validator', { ...version, validator: undefined }],
    ['with a validator that is a list', { ...version, validator: ['"v1"'] }],
  ])('has no version from a line %s', async (_, value) => {
    expect(await recordOf(line({ format: 1, ...(value as object) }))).toEqual({ version: undefined, spans: '' })
  })

  it.each<[string, object]>([
    ['a size that is text', { size: '100' }],
    ['a time that is a number', { modified: 5 }],
    ['a coding that is a number', { stored: 5 }],
    ['an empty suffix', { suffix: '' }],
    ['a suffix that leads to another folder', { suffix: '/../x.tif' }],
    ['the suffix of a program', { suffix: '.exe' }],
    ['a suffix without a dot', { suffix: 'tif' }],
  ])('drops %s', async (_, members) => {
    const { size: _size, ...rest } = version
    expect(await recordOf(line({ format: 1, ...rest, ...members }))).toEqual({ version: rest, spans: '' })
  })

  it.each<[string, unknown]>([
    ['of one number', [5]],
    ['of three numbers', [0, 5, 6]],
    ['of text', ['0', '5']],
    ['of fractions', [0.5, 5]],
    ['with a negative start', [-1, 5]],
    ['that ends before it starts', [5, 4]],
    ['that is empty', [5, 5]],
    ['beyond exact numbers', [0, 2 ** 53]],
    ['that is null', null],
    ['that is an object', { 0: 0, 1: 5, length: 2 }],
  ])('ignores a range %s', async (_, range) => {
    expect(await recordOf(versionLine(version) + line(range) + line([7, 9]))).toEqual({ version, spans: '7-9' })
  })

  it('is not read through a folder of its name', async () => {
    expect(await readPartJournal(folder)).toBeUndefined()
  })
})

describe('a set of ranges', () => {
  it.each([
    ['joins a range to the one that ends where it starts', '0-5 5-9', '0-9'],
    ['joins a range to one that starts where it ends', '5-9 0-5', '0-9'],
    ['joins ranges that overlap', '0-5 10-20 3-12', '0-20'],
    ['keeps a range that contains another', '0-20 5-9', '0-20'],
    ['keeps ranges apart that do not touch, in order', '10-20 0-5 30-40', '0-5 10-20 30-40'],
    ['joins the first of several', '0-5 10-20 5-7', '0-7 10-20'],
    ['ignores an empty range', '5-5 9-3', ''],
  ])('%s', (_, added, expected) => {
    expect(shown(ranges(added))).toBe(expected)
  })

  it('counts its bytes, and those from the beginning without a gap', () => {
    const spans = ranges('0-5 7-10')
    expect([spans.total, spans.prefix, ranges('1-5').prefix, ranges('').prefix, ranges('').total]).toEqual([8, 5, 0, 0, 0])
  })

  it.each([
    ['2-4 6-8', 10, '0-2 4-6 8-10'],
    ['2-4 6-8', 8, '0-2 4-6'],
    ['0-8', 8, ''],
    ['', 3, '0-3'],
    ['', 0, ''],
  ])('names the gaps of %s within %d bytes', (spans, size, gaps) => {
    expect(shown(ranges(spans).missing(size))).toBe(gaps)
  })

  it.each([
    [7, '0-4 6-7'],
    [6, '0-4'],
    [20, '0-4 6-8'],
  ])('keeps only what lies within %d bytes', (size, kept) => {
    expect(shown(ranges('0-4 6-8').within(size))).toBe(kept)
  })
  it('is copied with what it has, and not with what is added later', () => {
    const spans = ranges('0-4')
    const copy = spans.copy()
    spans.add(6, 8)
    expect([shown(copy), shown(spans)]).toEqual(['0-4', '0-4 6-8'])
  })
})
