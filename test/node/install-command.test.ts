import { join } from 'node:path'
import { expect, it } from 'vitest'
import { installCommand } from '../../src/node/base/system-error.ts'
import { put, temporaryFolder } from '../cli/folder.ts'

const folder = await temporaryFolder()

it('names the command that installs a package where the program finds it', async () => {
  await put(folder, 'package.json', {})
  const program = 'node_modules/stac-auth/dist/cli/bin.js'
  expect(installCommand(['a', 'b'], join(folder, program))).toBe('npm install a b')
  expect(installCommand(['a', 'b'], join(folder, 'lib', program))).toBe('npm install -g a b')
  expect(installCommand(['a'], join(folder, 'lib', 'src/node/base/system-error.ts'))).toBe('npm install a')
  const nested = 'node_modules/.pnpm/stac-auth@0.1.0/node_modules/stac-auth/dist/cli/bin.js'
  expect(installCommand(['a'], join(folder, nested))).toBe('npm install a')
})
