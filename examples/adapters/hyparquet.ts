import { asyncBufferFromUrl, parquetReadObjects } from 'hyparquet'
import type { Auth } from 'stac-auth'
import { parquetFile } from 'stac-auth/adapters/hyparquet'
import type { Given } from 'stac-auth/adapters/requests'

/** The rows of a Parquet file. */
export async function readParquet(auth: Auth, table: Given | undefined) {
  const file = await asyncBufferFromUrl(await parquetFile(auth, table))
  return parquetReadObjects({ file })
}
