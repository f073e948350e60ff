/** What `stac-auth/objects` promises to callers. */
import { type Auth, assetOf, type Target } from 'stac-auth'
import { type ListOptions, listObjects, type StoredObject } from 'stac-auth/objects'
import { expectTypeOf } from 'vitest'

declare const auth: Auth
declare const target: Target

expectTypeOf(listObjects(auth, target)).toExtend<AsyncIterable<StoredObject>>()
for await (const object of listObjects(auth, 's3://eo/maps/', { limit: 10, signal: new AbortController().signal })) {
  expectTypeOf(object.key).toEqualTypeOf<string>()
  expectTypeOf(object.size).toEqualTypeOf<number>()
  // Not every key fits into an address.
  expectTypeOf(object.url).toEqualTypeOf<string | undefined>()
}
expectTypeOf<ListOptions>().toExtend<{ startAfter?: string }>()
// What `assetOf` did not find is said when it is asked for, as by `auth.fetch`.
listObjects(auth, assetOf({}, 'zarr'))
// @ts-expect-error: a list is asked for by an engine
listObjects(fetch, target)
