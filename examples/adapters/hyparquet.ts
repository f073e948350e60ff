import { asyncBufferFromUrl, parquetReadObjects } from 'hyparquet'
import type { Auth, Target } from 'stac-auth'
import { parquetFile } from 'stac-auth/adapters/hyparquet'

/** The rows of a Parquet file. */
export async function readParquet(auth: Auth, table: Target | undefined) {
  const file = await asyncBufferFromUrl(await parquetFile(auth, table))
  return parquetReadObjects({ file })
}
