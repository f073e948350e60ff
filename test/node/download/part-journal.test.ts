import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
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
const line = (value: unknown) => `${JSON.stringify(value)}\n`
const versionLine = (value: PartVersion) => line({ format: 1, ...value })

/** What is read from a journal with that text: its version and ranges. */
async function recordOf(text: string) {
  const path = freshPath()
  await writeFile(path, text)
  const record = await readPartJournal(path)
  return record && { version: record.version, spans: record.spans.toJSON() }
}

describe('a journal of a partial file', () => {
  it('is read as it was written: the last version, and the ranges after it', async () => {
    const path = freshPath()
    const journal = await PartJournal.open(path, false)
    journal.begin(version)
    journal.add([0, 50])
    journal.begin(newer)
    journal.add([0, 10])
    journal.add([20, 30])
    journal.close()
    expect(await readPartJournal(path)).toEqual({
      version: newer,
      spans: new Spans([
        [0, 10],
        [20, 30],
      ]),
    })
  })

  it('keeps every member of a version', async () => {
    const full: PartVersion = { ...version, modified: 'Sun, 22 Nov 2026 10:00:00 GMT', stored: 'gzip', suffix: '.tar.gz' }
    expect((await recordOf(versionLine(full)))?.version).toEqual(full)
  })

  it('has no version before one is known, and then its ranges belong to none', async () => {
    const path = freshPath()
    const journal = await PartJournal.open(path, false)
    journal.add([0, 5])
    journal.close()
    expect(await readPartJournal(path)).toEqual({ spans: new Spans([[0, 5]]) })
  })

  it('ignores a version line that was cut, wherever the cut is, and begins its next line anew', async () => {
    const whole = versionLine(newer)
    for (let length = 1; length < whole.length - 1; length++) {
      const path = freshPath()
      await writeFile(path, versionLine(version) + line([0, 50]) + whole.slice(0, length))
      expect(await readPartJournal(path)).toEqual({ version, spans: new Spans([[0, 50]]) })
      const journal = await PartJournal.open(path, true)
      journal.begin(newer)
      journal.add([0, 7])
      journal.close()
      expect(await readPartJournal(path)).toEqual({ version: newer, spans: new Spans([[0, 7]]) })
    }
  })

  it('ignores a range that was cut, and one that follows it on a line of its own is read', async () => {
    const path = freshPath()
    await writeFile(path, `${versionLine(version)}[0,5`)
    const journal = await PartJournal.open(path, true)
    journal.add([60, 70])
    journal.add([70, 80])
    journal.close()
    expect((await readPartJournal(path))?.spans.toJSON()).toEqual([[60, 80]])
    // Only the first line of a process may follow a torn one.
    expect(await readFile(path, 'utf8')).toBe(`${versionLine(version)}[0,5\n[60,70]\n[70,80]\n`)
  })

  it('forgets the lines that were cut off', async () => {
    const path = freshPath()
    const journal = await PartJournal.open(path, false)
    journal.begin(version)
    journal.add([0, 10])
    const { length } = journal
    journal.add([10, 20])
    journal.cut(length)
    journal.add([30, 40])
    journal.close()
    expect((await readPartJournal(path))?.spans.toJSON()).toEqual([
      [0, 10],
      [30, 40],
    ])
    expect(await readFile(path, 'utf8')).not.toContain('\n\n')
  })

  it('begins without a version in a new file when it is replaced', async () => {
    const path = freshPath()
    const journal = await PartJournal.open(path, false)
    const other = await PartJournal.open(path, true)
    journal.begin(version)
    journal.add([0, 10])
    journal.replace()
    // Who has the old file open writes into that one.
    other.add([90, 100])
    other.close()
    journal.add([5, 6])
    journal.close()
    expect(await readFile(path, 'utf8')).toBe('{"format":1}\n[5,6]\n')
  })

  it('begins no empty line after what was cut off or replaced', async () => {
    const path = freshPath()
    await writeFile(path, `${versionLine(version)}[0,5`)
    const journal = await PartJournal.open(path, true)
    journal.cut(versionLine(version).length)
    journal.add([1, 2])
    journal.close()
    expect(await readFile(path, 'utf8')).toBe(`${versionLine(version)}[1,2]\n`)
    const again = await PartJournal.open(path, true)
    again.replace()
    again.close()
    expect([await readFile(path, 'utf8'), (await stat(path)).mode & 0o777]).toEqual(['{"format":1}\n', 0o600])
  })

  it('can be replaced when its file is gone', async () => {
    const path = freshPath()
    const journal = await PartJournal.open(path, false)
    await rm(path)
    journal.replace()
    journal.close()
    expect(await readFile(path, 'utf8')).toBe('{"format":1}\n')
  })

  it('leaves no file open', async () => {
    if (process.platform !== 'linux') return
    const before = (await readdir('/proc/self/fd')).length
    for (let round = 0; round < 40; round++) {
      const path = freshPath()
      const journal = await PartJournal.open(path, false)
      journal.replace()
      journal.close()
      await (await PartJournal.open(path, true)).remove()
    }
    expect((await readdir('/proc/self/fd')).length).toBeLessThan(before + 30)
  })

  it('is gone after its removal', async () => {
    const path = freshPath()
    const journal = await PartJournal.open(path, false)
    await journal.remove()
    expect(await readPartJournal(path)).toBeUndefined()
    await expect(readFile(path)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('can be read by its owner only', async () => {
    const path = freshPath()
    const journal = await PartJournal.open(path, false)
    journal.close()
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
    expect(await recordOf(line({ format: 1, ...(value as object) }))).toEqual({ version: undefined, spans: [] })
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
    expect(await recordOf(line({ format: 1, ...rest, ...members }))).toEqual({ version: rest, spans: [] })
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
    expect(await recordOf(versionLine(version) + line(range) + line([7, 9]))).toEqual({ version, spans: [[7, 9]] })
  })

  it('is not read through a folder of its name', async () => {
    expect(await readPartJournal(folder)).toBeUndefined()
  })
})

describe('a set of ranges', () => {
  it.each<[string, Span[], Span[]]>([
    [
      'joins a range to the one that ends where it starts',
      [
        [0, 5],
        [5, 9],
      ],
      [[0, 9]],
    ],
    [
      'joins a range to one that starts where it ends',
      [
        [5, 9],
        [0, 5],
      ],
      [[0, 9]],
    ],
    [
      'joins ranges that overlap',
      [
        [0, 5],
        [10, 20],
        [3, 12],
      ],
      [[0, 20]],
    ],
    [
      'keeps a range that contains another',
      [
        [0, 20],
        [5, 9],
      ],
      [[0, 20]],
    ],
    [
      'keeps ranges apart that do not touch, in order',
      [
        [10, 20],
        [0, 5],
        [30, 40],
      ],
      [
        [0, 5],
        [10, 20],
        [30, 40],
      ],
    ],
    [
      'joins the first of several',
      [
        [0, 5],
        [10, 20],
        [5, 7],
      ],
      [
        [0, 7],
        [10, 20],
      ],
    ],
    [
      'ignores an empty range',
      [
        [5, 5],
        [9, 3],
      ],
      [],
    ],
  ])('%s', (_, added, expected) => {
    expect(new Spans(added).toJSON()).toEqual(expected)
  })

  it('counts its bytes, and those from the beginning without a gap', () => {
    const spans = new Spans([
      [0, 5],
      [7, 10],
    ])
    expect([spans.total, spans.prefix, new Spans([[1, 5]]).prefix, new Spans().prefix, new Spans().total]).toEqual([8, 5, 0, 0, 0])
  })

  it('names the gaps within a size', () => {
    const spans = new Spans([
      [2, 4],
      [6, 8],
    ])
    expect(spans.missing(10)).toEqual([
      [0, 2],
      [4, 6],
      [8, 10],
    ])
    expect(spans.missing(8)).toEqual([
      [0, 2],
      [4, 6],
    ])
    expect(new Spans([[0, 8]]).missing(8)).toEqual([])
    expect(new Spans().missing(3)).toEqual([[0, 3]])
    expect(new Spans().missing(0)).toEqual([])
  })

  it('keeps only what lies within a size', () => {
    const spans = new Spans([
      [0, 4],
      [6, 8],
    ])
    expect(spans.within(7).toJSON()).toEqual([
      [0, 4],
      [6, 7],
    ])
    expect(spans.within(6).toJSON()).toEqual([[0, 4]])
    expect(spans.within(20).toJSON()).toEqual(spans.toJSON())
  })
})
