#!/usr/bin/env node
/**
 * Runs every benchmark of this folder and holds its ratios against their targets.
 *
 * A benchmark is a module with `run()`, which measures us and the peer in the same process, by turns, and gives
 * `{ name, ratio, target, unit, better: 'lower' | 'higher', details }[]`, or yields them. `programs` names what it starts besides Node: where one
 * is missing, the benchmark is skipped. Each result is printed as it comes. A result without `target` has nothing to compare with. One that is
 * `exact` is a count, which is that of `speed.json` in every run. One that is `steady` is a ratio of processor times, which a busy machine hardly
 * changes.
 *
 * `--json` prints one JSON value at the end. `--smallest` runs everything in its smallest size, and judges only what is `steady`: the best of
 * three attempts may not be worse than its figure in `speed.json` by more than a third. `--documented` compares with those figures instead of the
 * targets. `--write` keeps the figures there; then `npm run generate` writes them into the pages. Names given as arguments choose:
 * `npm run bench -- lint`. Exit 1 when a target is missed, a figure is off, or a benchmark fails; with `--write` only for the last.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { record, recorded } from './documented/record.mjs'
import { betterOf, isCompared, verdict } from './documented/verdict.mjs'

const ATTEMPTS = 3

const MODES = ['--smallest', '--documented', '--write']
const options = ['--json', ...MODES]
const isJson = process.argv.includes('--json')
const [mode, otherMode] = MODES.filter((option) => process.argv.includes(option))
const chosen = process.argv.slice(2).filter((argument) => !options.includes(argument))
const names = readdirSync(new URL('.', import.meta.url))
  .filter((name) => name.endsWith('.mjs') && name !== 'index.mjs')
  .map((name) => name.replace('.mjs', ''))
  .sort()
const unknown = chosen.filter((name) => !names.includes(name))
if (unknown.length > 0) {
  console.error(`unknown benchmark: ${unknown.join(', ')}. Benchmarks: ${names.join(', ')}; options: ${options.join(', ')}`)
  process.exit(2)
}
if (otherMode) {
  console.error(`${mode} and ${otherMode} exclude each other`)
  process.exit(2)
}

const known = new Map(Object.values(recorded()).flatMap((run) => run.results.map(({ name, figure }) => [name, figure])))
const results = []
const skipped = []
const failed = []
for (const name of names.filter((one) => chosen.length === 0 || chosen.includes(one))) {
  try {
    const { run, smallest = [], programs = [] } = await import(new URL(`${name}.mjs`, import.meta.url).href)
    const missing = programs.filter((program) => !isThere(program))
    if (missing.length > 0) {
      skipped.push({ name, missing })
      print(`SKIPPED ${name}: ${missing.join(', ')} missing; .ci/install has all programs`)
      continue
    }
    if (mode === '--write') print(`== ${name} (at ${Math.round(performance.now() / 1000)} s)`)
    const measured = mode === '--smallest' ? await best(() => run(...smallest)) : await printed(await run())
    results.push(...measured)
    if (mode === '--write') record(name, measured)
  } catch (error) {
    fail(name, error.message)
  }
}

if (mode === '--documented' && chosen.length === 0 && skipped.length === 0) {
  // A result that was renamed would leave its figure unmeasured.
  const measured = new Set(results.map(({ name }) => name))
  for (const name of known.keys()) if (!measured.has(name)) fail(name, 'speed.json has it, and no benchmark measured it')
}

if (isJson) {
  const all = results.map((result) => ({ ...result, ok: judged(result) }))
  console.log(JSON.stringify({ node: process.version, results: all, skipped, failed }))
}
if (mode === '--write')
  print(`bench/speed.json is written after ${Math.round(performance.now() / 1000)} s: npm run generate fills the pages`)
process.exitCode = failed.length === 0 && (mode === '--write' || results.every((result) => judged(result) !== false)) ? 0 : 1

function print(line) {
  if (!isJson) console.log(line)
}

function fail(name, message) {
  failed.push({ name, message })
  print(`FAILED ${name}: ${message}`)
}

function isThere(program) {
  // Servers are below sbin, which is not in the path of every user.
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` }
  return spawnSync('sh', ['-c', 'command -v "$0"', program], { env, stdio: 'ignore' }).status === 0
}

/** Returns the results, and prints each as it comes. */
async function printed(run) {
  const found = []
  for await (const result of run) {
    found.push(result)
    print(row(result))
  }
  return found
}

/** Measures again what is off, and returns the best of each result: others on the machine make it worse, never better. */
async function best(run) {
  let found = []
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const again = []
    for await (const result of await run()) again.push(found.length === 0 ? result : betterOf(result, found[again.length]))
    found = again
    if (found.every((result) => judged(result) !== false)) break
  }
  for (const result of found) print(row(result))
  return found
}

function judged(result) {
  return verdict(mode, result, known.get(result.name))
}

function row(result) {
  const { name, ratio, target, unit, better, details } = result
  const goal = target === undefined ? '' : `${better === 'lower' ? 'at most' : 'at least'} ${target}`
  const bound = (isCompared(mode, result) ? `speed.json: ${known.get(name) ?? 'none'}` : goal).padEnd(16)
  const said = { true: 'ok     ', false: isCompared(mode, result) ? 'OFF    ' : 'MISSED ' }[judged(result)] ?? 'ran    '
  return `${said} ${name.padEnd(52)} ${`${ratio.toFixed(2)} ${unit}`.padEnd(28)} ${bound} ${text(details)}`.trimEnd()
}

function text(details) {
  if (details === undefined || typeof details === 'string') return details ?? ''
  return Object.entries(details)
    .map(([name, value]) => `${name} ${typeof value === 'number' ? Number(value.toPrecision(3)) : value}`)
    .join(', ')
}
