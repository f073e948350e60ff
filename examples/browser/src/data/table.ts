/** Parquet files: their columns, and the first rows. */
import { asyncBufferFromUrl, parquetMetadataAsync, parquetReadObjects, parquetSchema } from 'hyparquet'
import type { Auth, Target } from 'stac-auth'
import { parquetFile } from 'stac-auth/adapters/hyparquet'

export interface Table {
  readonly rows: number
  readonly columns: readonly string[]
  readonly first: readonly Readonly<Record<string, unknown>>[]
}

const SHOWN = 8

/** Reads the end of the file and as much as the first rows need. Errors: those of `fetch`, `RANGE_INVALID`, those of hyparquet. */
export async function readTable(auth: Auth, target: Target | undefined): Promise<Table> {
  const file = await asyncBufferFromUrl(await parquetFile(auth, target))
  const metadata = await parquetMetadataAsync(file)
  const columns = parquetSchema(metadata).children.map(({ element }) => element.name)
  const first = await parquetReadObjects({ file, metadata, rowStart: 0, rowEnd: SHOWN })
  return { rows: Number(metadata.num_rows), columns, first }
}
