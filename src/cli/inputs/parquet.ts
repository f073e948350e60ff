/** Items from the rows of a stac-geoparquet file, by the optional package `hyparquet`. */
import { open } from 'node:fs/promises'
import zlib from 'node:zlib'
import type { AsyncBuffer, Compressors, FileMetaData } from 'hyparquet'
import { IntegrityError, isAuthError, UnsupportedError } from '../../errors.ts'
import { openFilesFailure } from '../../node/system-error.ts'
import type { StacDocument } from '../../stac/document.ts'
import { isObject, own, ownString } from '../../stac/json.ts'

/** An Item made from a row, and the Collections that the file holds beside it. */
export interface Row {
  /** From 0. */
  readonly index: number
  readonly item: StacDocument
  readonly parents: readonly StacDocument[]
}

/** Columns that say something about access; geometry and the rest are never read. */
const COLUMNS = ['stac_extensions', 'auth:schemes', 'links', 'assets', 'id', 'collection']

const ROWS_AT_ONCE = 2000

/**
 * The Items of a file, row after row. Columns are unions of all rows, so a member that a row does not have comes back as
 * null: nulls are taken out first. Errors: `FILE_ACCESS` without `hyparquet`, `FILE_INTEGRITY` for a damaged file.
 */
export async function* rowsOf(file: AsyncBuffer, name: string): AsyncGenerator<Row> {
  const { parquetMetadataAsync, parquetReadObjects, parquetSchema } = await loadHyparquet(name)
  try {
    const metadata = await parquetMetadataAsync(file)
    const present = new Set(parquetSchema(metadata).children.map(({ element }) => element.name))
    const columns = COLUMNS.filter((column) => present.has(column))
    const collections = collectionsIn(metadata)
    const total = Number(metadata.num_rows)
    for (let rowStart = 0; rowStart < total && columns.length > 0; rowStart += ROWS_AT_ONCE) {
      const rowEnd = Math.min(total, rowStart + ROWS_AT_ONCE)
      const rows = await parquetReadObjects({ file, metadata, columns, rowStart, rowEnd, compressors: COMPRESSORS, geoparquet: false })
      for (const [offset, row] of rows.entries()) {
        const item = itemOf(row)
        yield { index: rowStart + offset, item, parents: collections.get(ownString(item, 'collection') ?? '') ?? [] }
      }
    }
  } catch (error) {
    // The parser's own text may quote what it read.
    throw isAuthError(error) ? error : damaged(name, error)
  }
}

/** A file that parts of can be read, and how to let go of it. Errors: those of the system. */
export async function openParts(path: string): Promise<AsyncBuffer & { close(): Promise<void> }> {
  const file = await open(path)
  const { size } = await file.stat()
  return {
    byteLength: size,
    slice: async (start, end = size) => {
      const bytes = new Uint8Array(Math.max(0, end - start))
      const { bytesRead } = await file.read(bytes, 0, bytes.length, start)
      return bytes.buffer.slice(0, bytesRead)
    },
    close: () => file.close(),
  }
}

/** Bytes that are in memory already, as a file. */
export function bytesAsParts(bytes: Uint8Array): AsyncBuffer {
  const { buffer, byteOffset, byteLength } = bytes
  return { byteLength, slice: (start, end = byteLength) => buffer.slice(byteOffset + start, byteOffset + end) as ArrayBuffer }
}

/** Members of the Item's root; whatever else a row has is a property. */
function itemOf(row: unknown): StacDocument {
  const { 'auth:schemes': schemes, ...members } = withoutNulls(row) as StacDocument
  return { type: 'Feature', ...members, properties: schemes === undefined ? {} : { 'auth:schemes': schemes } }
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((element) => element !== null && element !== undefined).map(withoutNulls)
  if (typeof value === 'bigint') return Number(value)
  if (!isObject(value) || value instanceof Date || ArrayBuffer.isView(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => (member === null || member === undefined ? [] : [[name, withoutNulls(member)]])),
  )
}

/** By id, from the metadata of the file: a map of Collections, or one of them alone. */
function collectionsIn({ key_value_metadata = [] }: FileMetaData): ReadonlyMap<string, readonly StacDocument[]> {
  const text = (key: string) => key_value_metadata.find((entry) => entry.key === key)?.value ?? '{}'
  const stored = own(parsed(text('stac-geoparquet')), 'collections') ?? parsed(text('stac:collections'))
  const collections = isObject(stored) ? Object.values(stored) : []
  return new Map(collections.filter(isObject).map((collection) => [ownString(collection, 'id') ?? '', [collection]]))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const COMPRESSORS: Compressors = {
  GZIP: (input) => zlib.gunzipSync(input),
  BROTLI: (input) => zlib.brotliDecompressSync(input),
  ZSTD: (input) => {
    const inflate = (zlib as { zstdDecompressSync?: (bytes: Uint8Array) => Uint8Array }).zstdDecompressSync
    if (!inflate) throw new UnsupportedError('FILE_ACCESS', 'the file is compressed with zstd, which needs Node 22.15 or newer')
    return inflate(input)
  },
}

/** Loaded when the first such file is read. */
async function loadHyparquet(name: string): Promise<typeof import('hyparquet')> {
  try {
    return await import('hyparquet')
  } catch (error) {
    const hint = 'npm install hyparquet'
    throw (
      openFilesFailure(error) ??
      new UnsupportedError('FILE_ACCESS', `"${name}" is a Parquet file, which needs the optional package hyparquet`, { hint })
    )
  }
}

function damaged(name: string, error: unknown): IntegrityError {
  const kind = error instanceof Error ? error.name : typeof error
  return new IntegrityError(
    'FILE_INTEGRITY',
    `"${name}" cannot be read as Parquet (${kind}): it is damaged, or in a form that hyparquet does not know`,
  )
}
