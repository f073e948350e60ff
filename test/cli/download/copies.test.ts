import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { expect, it } from 'vitest'
import { put, temporaryFolder } from '../folder.ts'
import { downloaded, itemOf, startArchive } from './fixture.ts'

const server = await startArchive()
const folder = await temporaryFolder()
const assets = { a: { href: `${server.origin}/open/a-10.tif` }, b: { href: `${server.origin}/open/b-10.tif` } }
const item = await put(folder, 'item.json', itemOf('one', assets))

it('writes copies of items that lead to the files', async () => {
  const { code, stdout, files } = await downloaded(server, [item, '--rewrite-hrefs', '--asset', 'a'])
  expect([code, Object.keys(files)]).toEqual([0, ['one/a-10.tif', 'one/one.json']])
  expect(stdout).toMatch(/\nitems {9}1\n/)
  const copy = JSON.parse(String(files['one/one.json']))
  expect([copy.assets.a.href, copy.assets.b.href]).toEqual(['./a-10.tif', assets.b.href])
})

it('replaces no file of the user by a copy', async () => {
  const into = await temporaryFolder()
  await mkdir(join(into, 'one'))
  await writeFile(join(into, 'one/one.json'), '{"mine":true}')
  const { code, stderr, files } = await downloaded(server, [item, '--rewrite-hrefs'], { into })
  expect([code, String(files['one/one.json'])]).toEqual([6, '{"mine":true}'])
  expect(stderr).toMatch(/^error PATH_EXISTS: .*one\.json.*\n.*\n {2}file: .*one\/one\.json\n$/)
})

it('takes files from the rows of Parquet files, and makes no copies of rows', async () => {
  const columnData = [
    { name: 'id', data: ['row'], type: 'STRING' as const },
    { name: 'assets', data: [assets], type: 'JSON' as const },
  ]
  const rows = await put(folder, 'rows.parquet', new Uint8Array(parquetWriteBuffer({ columnData })))
  expect(Object.keys((await downloaded(server, [rows])).files)).toEqual(['row/a-10.tif', 'row/b-10.tif'])
  const copies = await downloaded(server, [rows, '--rewrite-hrefs'])
  expect([copies.code, copies.files, copies.stderr]).toEqual([
    2,
    {},
    expect.stringMatching(/^error USAGE: --rewrite-hrefs cannot write the items of ".*rows.parquet"/),
  ])
})
