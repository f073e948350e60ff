import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openDestination } from '../../../src/node/download/destination/destination.ts'
import { identityOf, knownIdentity } from '../../../src/node/queue/destination.ts'
import { temporaryFolder } from '../../cli/folder.ts'

it('a folder has one identity for all who open it at once', async () => {
  const folder = join(await temporaryFolder(), 'new')
  await mkdir(folder)
  const open = async () => identityOf(await openDestination(folder))
  const [first = '', ...others] = await Promise.all([open(), open(), open(), open()])
  expect(first).toMatch(/^[0-9a-f]{24}$/)
  expect(new Set([...others, await open(), await knownIdentity(folder)])).toEqual(new Set([first]))
  expect(await readdir(folder)).toEqual(['.stac-auth-queue'])
})
