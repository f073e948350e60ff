/**
 * The processor time that `import 'stac-auth/node'` adds to the start of Node, against the same with nothing but undici, which every request needs.
 * Each start is a process of its own; they take turns, so that a busy machine slows all of them.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { text as textOf } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'

const ours = new URL('../dist/node/index.js', import.meta.url).href
const engine = new URL('../dist/index.js', import.meta.url).href
const undici = pathToFileURL(createRequire(import.meta.url).resolve('undici')).href
const entry = { id: 'eo', type: 'http', scheme: 'bearer', token: 't', sendTo: ['https://data.example/'] }

/** Name → what the process does. */
const STARTS = {
  empty: '',
  undici: `await import('${undici}')`,
  ours: `await import('${ours}')`,
  engine: `const { createAuth } = await import('${engine}'); await createAuth({ credentials: [${JSON.stringify(entry)}] }).ready()`,
}

/** Arguments of `run` for the smallest measurement. */
export const smallest = [3]

/** Rows of `{ name, ratio, target, unit, better, details }`. */
export async function run(rounds = 15) {
  const times = new Map(Object.keys(STARTS).map((name) => [name, []]))
  for (let round = -2; round < rounds; round++) {
    for (const [name, source] of Object.entries(STARTS)) {
      const time = await start(source)
      if (round >= 0) times.get(name).push(time)
    }
  }
  const median = (name) => times.get(name).sort((one, other) => one - other)[rounds >> 1]
  const row = (name, mine) => {
    const details = { 'ms of ours': median(mine), 'of Node with undici': median('undici'), 'of Node alone': median('empty') }
    return { name, ratio: median(mine) / median('undici'), target: 1.3, unit: '×', better: 'lower', steady: true, details }
  }
  return [row('Start: import stac-auth/node', 'ours'), row('Start: an engine with one entry, no S3', 'engine')]
}

/** Milliseconds of processor time of a process. */
async function start(source) {
  const told = "process.on('exit', () => { const { user, system } = process.cpuUsage(); process.stdout.write(String(user + system)) })"
  const argv = ['--input-type=module', '--eval', `${told}; ${source}`]
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [[code], microseconds] = await Promise.all([once(child, 'close'), textOf(child.stdout)])
  if (code !== 0) throw new Error(`a start ended with ${code}`)
  return Number(microseconds) / 1e3
}

if (import.meta.filename === process.argv[1]) console.table(await run())
