import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

it('the example of a scheme of one’s own runs against the built package', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', 'examples/custom-scheme.ts'], { cwd: root })
  expect(stdout).toBe("GET https://data.example/scene.tif { 'x-ticket': 'A-17' }\n")
})
