import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FetchStore, open, root } from 'zarrita'
import { readZarr } from '../../examples/adapters/zarrita.ts'
import { zarrStore } from '../../src/adapters/zarrita.ts'
import { failureOf } from '../harness/failure.ts'
import { type AnsweringServer, startAnswering } from '../servers/answering-server.ts'
import { type Archive, startArchive } from './archive.ts'
import { keepsTheGrant } from './grant.ts'

const ARRAY = {
  zarr_format: 3,
  node_type: 'array',
  shape: [4],
  data_type: 'uint8',
  chunk_grid: { name: 'regular', configuration: { chunk_shape: [2] } },
  chunk_key_encoding: { name: 'default', configuration: { separator: '/' } },
  fill_value: 9,
  codecs: [{ name: 'bytes' }],
  attributes: {},
}

/** The second chunk is missing, so the fill value takes its place. */
const files = { 'a.zarr/t/zarr.json': JSON.stringify(ARRAY), 'a.zarr/t/c/0': Uint8Array.of(1, 2) }

keepsTheGrant({ files, name: 'a.zarr', read: (auth, target) => readZarr(auth, target, 't'), expected: Uint8Array.of(1, 2, 9, 9) })

describe('a store that one may read and not list', () => {
  let archive: Archive
  let bucket: AnsweringServer
  beforeAll(async () => {
    archive = await startArchive(files)
    // What is missing is forbidden, as a wrong key is.
    bucket = await startAnswering(async ({ path, headers }) => {
      const answer = await fetch(archive.origin + path, { headers: { 'x-archive-key': String(headers['x-archive-key']) } })
      return { status: answer.status === 404 ? 403 : answer.status, body: new Uint8Array(await answer.arrayBuffer()) }
    })
  })
  afterAll(async () => {
    await archive.close()
    await bucket.close()
  })

  const reading = async (key: string | undefined, forbidden: 'missing' | undefined) => {
    const auth = archive.engine(key, bucket.origin)
    const store = new FetchStore(...zarrStore(auth, archive.target(`${bucket.origin}/files/a.zarr`), { ...(forbidden && { forbidden }) }))
    const array = await open.v3(root(store).resolve('t'), { kind: 'array' })
    return (await array.getChunk([1])).data
  }

  it('returns fill values for what is forbidden where the caller says so', async () => {
    expect(await reading(undefined, 'missing')).toEqual(Uint8Array.of(9, 9))
    expect(await failureOf(reading(undefined, undefined))).toMatchObject({ code: 'AUTH_REJECTED' })
  })

  it('still tells a wrong key from a missing chunk', async () => {
    expect(await failureOf(reading('wrong', 'missing'))).toMatchObject({ code: 'AUTH_REJECTED' })
  })
})
