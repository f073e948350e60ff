/**
 * Claim: a folder of Items is linted at least six times as fast as `stac-node-validator` validates it offline.
 *
 * The same 20,000 files of about 9 kB go to both programs, by turns; the CPU time of each whole process counts, start included, for
 * both do everything on one thread and on a busy machine the clock measures the neighbours; it is reported beside.
 *
 * We apply the rules that are on by default and check nothing but the authentication extension. The validator checks what it always checks: the Item
 * against STAC 1.1 with GeoJSON, and against each of the twelve extensions that it declares, authentication among them. It has every
 * schema as a file (`--schemaMap`), compiles each once and never asks the network. So this compares what people wait for, not two
 * ways to do the same work; the last figure says what is left when the schemas of everything but our extension accept any object,
 * which no user of it has.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { item } from './lint.mjs'
import { schemas } from './schemas/index.mjs'

const ITEMS = 20_000
const ROUNDS = 3
export const OURS = fileURLToPath(new URL('../dist/cli/bin.js', import.meta.url))
const require = createRequire(import.meta.url)
export const THEIRS = require.resolve('stac-node-validator/bin/cli.js')

/** Arguments of `run` for the smallest measurement, which only shows that it works. */
export const smallest = [{ items: 20, rounds: 1 }]

export async function run({ items = ITEMS, rounds = ROUNDS } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'stac-auth-bench-'))
  try {
    const files = await written(folder, items)
    const real = await mapped(folder, 'real', schemas)
    const measured = []
    for (let round = 0; round < rounds; round++) {
      const theirs = await validated(files, real, items)
      const ours = await linted(files, items)
      measured.push({ ratio: theirs.cpu / ours.cpu, ours, theirs })
    }
    measured.sort((one, other) => one.ratio - other.ratio)
    const { ratio, ours, theirs } = measured[measured.length >> 1]
    const idle = await validated(files, await mapped(folder, 'idle', schemas.map(accepting)), items)
    const details = {
      files: items,
      'documents per CPU second': items / ours.cpu,
      'of the validator': items / theirs.cpu,
      'documents per second of the clock': items / ours.wall,
      'of the validator by the clock': items / theirs.wall,
      'times if only our extension had a schema': idle.cpu / ours.cpu,
    }
    return [
      { name: 'lint of files, documents per CPU second', ratio, target: 6, unit: 'times stac-node-validator', better: 'higher', details },
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Writes the files and returns their folder. */
async function written(folder, items) {
  const files = join(folder, 'items')
  await mkdir(files)
  for (let index = 0; index < items; index++) await writeFile(join(files, `${index}.json`), JSON.stringify(item(index, 0)))
  return files
}

/** Writes schemas and returns the argument that says which address is which file. */
export async function mapped(folder, name, all) {
  await mkdir(join(folder, name))
  const pairs = all.map(async (schema, index) => {
    const path = join(folder, name, `${index}.json`)
    await writeFile(path, JSON.stringify(schema))
    return `${schema.$id}=${path}`
  })
  return (await Promise.all(pairs)).join(';')
}

/** The schema of our extension as it is, and of all others one that says nothing. */
function accepting(schema) {
  return schema.$id.includes('/authentication/') ? schema : { $id: schema.$id, type: 'object' }
}

async function validated(files, schemaMap, items) {
  const theirs = await cost(dirname(files), [THEIRS, files, '--all', '--schemaMap', schemaMap])
  if (!theirs.said.includes(`Valid: ${items}\n`)) throw new Error(`the validator did not accept the files: ${theirs.said.slice(-500)}`)
  return theirs
}

async function linted(files, items) {
  const ours = await cost(dirname(files), [OURS, 'lint', files, '--format', 'json'])
  const { documents, errors, warnings } = JSON.parse(ours.said).summary
  if (documents !== items || errors + warnings > 0) throw new Error(`${documents} files linted, ${errors + warnings} findings`)
  return ours
}

/** Seconds of CPU and of the clock, peak of the memory in MiB, and what was said. */
export async function cost(folder, [script, ...args]) {
  // A file: the validator ends without waiting for who reads a pipe.
  const said = join(folder, 'said.txt')
  const output = await open(said, 'w')
  const told = `process.on('exit', () => { const { user, system } = process.cpuUsage(); process.stderr.write('cpu ' + (user + system) + ' peak ' + process.resourceUsage().maxRSS) })`
  const started = performance.now()
  const child = spawn(process.execPath, ['--import', `data:text/javascript,${encodeURIComponent(told)}`, script, ...args], {
    stdio: ['ignore', output.fd, 'pipe'],
  })
  let errors = ''
  child.stderr.on('data', (chunk) => (errors += chunk))
  await once(child, 'close')
  await output.close()
  const [, microseconds, kibibytes] = /cpu (\d+) peak (\d+)/.exec(errors) ?? []
  if (!microseconds) throw new Error(errors)
  const wall = (performance.now() - started) / 1e3
  return { cpu: microseconds / 1e6, wall, memory: kibibytes / 1024, said: await readFile(said, 'utf8') }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.log(await run())
