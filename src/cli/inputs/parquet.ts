/** Reads Items from a stac-geoparquet file with the optional package `hyparquet`. */
import zlib from 'node:zlib'
import type { AsyncBuffer, Compressors, FileMetaData } from 'hyparquet'
import { IntegrityError, isAuthError, UnsupportedError } from '../../errors.ts'
import { installCommand, openFilesFailure } from '../../node/base/index.ts'
import { isObject, own, ownString, type StacDocument } from '../../stac/document.ts'
import { jsonIn } from '../read-document.ts'

/** An Item made from a row, and its Collections in the file. */
export interface ParquetItem {
  /** From 0. */
  readonly index: number
  readonly item: StacDocument
  readonly parents: readonly StacDocument[]
}

/** The columns that are read; geometry and others are not needed. */
const COLUMNS = ['stac_extensions', 'auth:schemes', 'links', 'assets', 'id', 'collection']

const ROWS_AT_ONCE = 2000

/**
 * Yields the Items of a file, by its path or bytes, row by row. Members that a row does not have are null in Parquet, so nulls are removed.
 * Errors: `FILE_ACCESS` without `hyparquet`, `FILE_INTEGRITY` for a damaged file.
 */
export async function* parquetItems(source: string | Uint8Array, name: string): AsyncGenerator<ParquetItem> {
  const { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, parquetSchema } = await loadHyparquet(name)
  try {
    const file: AsyncBuffer = typeof source === 'string' ? await asyncBufferFromFile(source) : Uint8Array.from(source).buffer
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
    // The message of the parser may quote the file.
    throw isAuthError(error) ? error : damaged(name, error)
  }
}

/** Converts a row to an Item. */
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

/** Returns the Collections in the metadata of the file, by id. */
function collectionsIn({ key_value_metadata = [] }: FileMetaData): ReadonlyMap<string, readonly StacDocument[]> {
  const text = (key: string) => key_value_metadata.find((metadata) => metadata.key === key)?.value ?? '{}'
  const stored = own(jsonIn(text('stac-geoparquet')), 'collections') ?? jsonIn(text('stac:collections'))
  const collections = isObject(stored) ? Object.values(stored) : []
  return new Map(collections.filter(isObject).map((collection) => [ownString(collection, 'id') ?? '', [collection]]))
}

const COMPRESSORS: Compressors = {
  GZIP: (input) => zlib.gunzipSync(input),
  BROTLI: (input) => zlib.brotliDecompressSync(input),
  ZSTD: (input) => {
    const inflate = (zlib as { zstdDecompressSync?: (bytes: Uint8Array) => Uint8Array }).zstdDecompressSync
    if (!inflate) throw new UnsupportedError('FILE_ACCESS', 'cannot decompress zstd: it needs Node 22.15 or newer')
    return inflate(input)
  },
}

/** Loads `hyparquet` on first use. */
async function loadHyparquet(name: string): Promise<typeof import('hyparquet')> {
  try {
    return await import('hyparquet')
  } catch (error) {
    const hint = `run ${installCommand(['hyparquet'])}`
    throw (
      openFilesFailure(error) ??
      new UnsupportedError('FILE_ACCESS', `cannot read "${name}": Parquet files need the optional package hyparquet`, { hint })
    )
  }
}

function damaged(name: string, error: unknown): IntegrityError {
  const kind = error instanceof Error ? error.name : typeof error
  return new IntegrityError(
    'FILE_INTEGRITY',
    `cannot read "${name}" as Parquet (${kind}): the file is damaged, or uses a feature that hyparquet does not support`,
  )
}
