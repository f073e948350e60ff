/**
 * Checks the types of everything: all code; what pages may load, without the types of Node; and the programs of `test/types`, which see the
 * package as its users do, after a build.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const PROJECTS = [
  'test/types/code.json',
  'test/types/web.json',
  'test/types',
  'test/types/bundler.json',
  'test/types/browser',
  'test/types/jsx/react.json',
  'test/types/jsx/preact.json',
]

const statuses = await Promise.all(
  PROJECTS.map(async (project) => {
    const compiler = spawn(process.execPath, ['node_modules/typescript-7/bin/tsc', '-p', project], { cwd: root, stdio: 'inherit' })
    return (await once(compiler, 'exit'))[0] as number | null
  }),
)
process.exitCode = statuses.every((status) => status === 0) ? 0 : 1
