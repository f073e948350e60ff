/** What `stac-auth/node` promises to callers. */
import { assetOf, createAuth } from 'stac-auth'
import { type DownloadEvent, type DownloadOptions, download } from 'stac-auth/node'
import { expectTypeOf } from 'vitest'

const auth = createAuth({ credentials: [] })
const item = { type: 'Feature', id: 'a', assets: { data: { href: 'https://data.example/a.tif' } } }
const target = assetOf(item, 'data')

export const events = download([{ document: item, url: 'https://data.example/item.json' }, ...(target ? [target] : [])], {
  folder: 'data',
  auth,
  assets: { roles: ['data'], types: ['image/*'] },
})

expectTypeOf(events).toExtend<AsyncIterable<DownloadEvent>>()
expectTypeOf<Extract<DownloadEvent, { kind: 'summary' }>['written']>().toEqualTypeOf<number>()
expectTypeOf<NonNullable<DownloadOptions['existing']>>().toEqualTypeOf<'keep' | 'refuse' | 'replace'>()

// @ts-expect-error a folder is needed
download([], { auth })
// @ts-expect-error there is no such policy
download([], { folder: 'data', auth, existing: 'overwrite' })
