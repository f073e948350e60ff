/** The built program where the system lets it open few files: Node 20 opens the modules of a graph all at once. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { put, temporaryFolder } from './folder.ts'

const PROGRAM = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url))
/** Later versions open one module after the other, and need a descriptor or two more than themselves. */
const OPENS_ALL = Number(process.versions.node.split('.')[0]) < 22
const folder = await temporaryFolder()
const item = await put(folder, 'item.json', JSON.stringify({ type: 'Feature', stac_version: '1.0.0', id: 'a', properties: {}, assets: {} }))

function run(limit: number, argv: readonly string[]) {
  const child = spawn('sh', ['-c', `ulimit -n ${limit}; exec "$0" "$@"`, process.execPath, PROGRAM, ...argv], {
    env: { PATH: process.env.PATH },
  })
  let stderr = ''
  child.stderr.on('data', (text) => {
    stderr += text
  })
  child.stdout.resume()
  return new Promise<{ code: number | null; stderr: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, stderr }))
  })
}

it.each([[['lint', item]], [['lint', '--format', 'sarif', item]], [['lint', '--crawl', item]]])(
  '%j works with 80 descriptors',
  async (argv) => {
    expect(await run(80, argv)).toMatchObject({ code: 0 })
  },
)

it.each([[['lint', item]], [['explain', item, '--json']], [['download', '--dry-run', item, '-d', folder]]])(
  '%j says that too many files are open, or works, where it can open few',
  async (argv) => {
    const usual = await run(1024, argv)
    const tooMany = { code: 6, stderr: expect.stringMatching(/FILE_ACCESS.*too many open files \(EMFILE\)[\s\S]*ulimit -n 1024/) }
    // A command with few modules may fit into 26.
    expect([tooMany, usual]).toContainEqual(await run(26, argv))
    if (OPENS_ALL) expect(await run(21, argv)).toEqual(tooMany)
    else expect(await run(24, argv)).toEqual(usual)
  },
)
