import { readFile } from 'node:fs/promises'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { describe, expect, it } from 'vitest'
import { EXTENSION } from '../../harness/documents.ts'
import { put, temporaryFolder } from '../folder.ts'
import { KEY_SCHEME } from '../items.ts'
import { lastError, run } from '../run.ts'

const folder = await temporaryFolder()

/** A union of all rows, as writers of stac-geoparquet make it: what a row does not have is null. */
const asset = (refs: readonly string[] | null) => ({ data: refs && { href: 'https://data.example/f', 'auth:refs': refs }, other: null })
const schemes = { key: KEY_SCHEME, absent: null }
const ROWS = [
  { id: 'clean', assets: asset(['key']), schemes },
  { id: 'dangling', assets: asset(['key', 'gone']), schemes },
  { id: 'without', assets: asset(null), schemes: null },
  { id: 'borrowing', assets: asset(['shared']), schemes: null },
]
const COLLECTION = { type: 'Collection', id: 'scenes', 'auth:schemes': { shared: { type: 'http', scheme: 'basic' } } }

function parquet(rows: readonly (typeof ROWS)[number][] = ROWS): Uint8Array {
  const column = (name: string, data: readonly unknown[]) => ({ name, data: [...data], type: 'JSON' as const })
  return new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        { name: 'id', data: rows.map(({ id }) => id), type: 'STRING' },
        { name: 'collection', data: rows.map(() => 'scenes'), type: 'STRING' },
        column(
          'stac_extensions',
          rows.map(() => [EXTENSION]),
        ),
        column(
          'links',
          rows.map(() => []),
        ),
        column(
          'assets',
          rows.map(({ assets }) => assets),
        ),
        column(
          'auth:schemes',
          rows.map(({ schemes: fromRow }) => fromRow),
        ),
        { name: 'datetime', data: rows.map(() => 'x'.repeat(10)), type: 'STRING' },
      ],
      kvMetadata: [{ key: 'stac-geoparquet', value: JSON.stringify({ collections: { scenes: COLLECTION } }) }],
    }),
  )
}

describe('stac-geoparquet', () => {
  it('stac-geoparquet is linted row by row, without nulls, with the Collection of the file as scope', async () => {
    const path = await put(folder, 'items.parquet', parquet())
    const { code, stdout } = await run(['lint', path, '--format', 'json'])
    const { problems, summary } = JSON.parse(stdout)
    expect([code, summary.documents]).toEqual([1, 4])
    expect(problems.map(({ code: problemCode, pointer, id }: Record<string, string>) => [problemCode, pointer, id])).toEqual([
      ['dangling-ref', '/1/assets/data/auth:refs/1', 'dangling'],
      ['scheme-outside-document', '/3/assets/data/auth:refs/0', 'borrowing'],
    ])
    expect(problems[0]).not.toHaveProperty('line')
  })

  it('stac-geoparquet without rows is reported as that', async () => {
    const path = await put(folder, 'empty.parquet', parquet([]))
    expect(await run(['lint', path])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`"${path}" could be read, but it has no rows`),
    })
  })

  it('stac-geoparquet may come by standard input', async () => {
    const stdin = await readFile(await put(folder, 'stdin.parquet', parquet()))
    expect(JSON.parse((await run(['lint', '-', '--format', 'json'], { stdin })).stdout).problems).toHaveLength(2)
  })

  it('stac-geoparquet that is damaged is reported, with exit code 6 and without its content', async () => {
    const path = await put(folder, 'damaged.parquet', parquet().subarray(0, 300))
    const outcome = await run(['lint', path, '--format', 'json'])
    expect([outcome.code, lastError(outcome).code]).toEqual([6, 'FILE_INTEGRITY'])
    expect(outcome.stderr).not.toContain('data.example')
  })
})
