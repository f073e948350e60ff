import { expect, it } from 'vitest'
import { put, temporaryFolder } from './folder.ts'
import { itemWith } from './items.ts'
import { run } from './run.ts'

it('doctor checks a document with --offline, and refuses the URL of one', async () => {
  const folder = await temporaryFolder()
  const credentials = await put(folder, 'credentials.json', { version: 1, credentials: [] })
  const schemes = { k: { type: 'http', scheme: 'bearer' } }
  const path = await put(folder, 'item.json', itemWith({ data: { href: 'https://data.example/a', 'auth:refs': ['k'] } }, { schemes }))
  const { code, stdout } = await run(['doctor', '--offline', path, '--credentials', credentials])
  expect([code, stdout]).toEqual([3, expect.stringContaining('NO_CREDENTIAL')])
  expect(await run(['doctor', '--offline', 'https://data.example/item.json', '--credentials', credentials])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--offline reads no document from a URL'),
  })
})
