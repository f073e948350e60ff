#!/usr/bin/env node
/**
 * Runs every benchmark of this folder and holds its ratios against their targets.
 *
 * A benchmark is a module with `run()`, which measures us and the peer in the same process, by turns, and gives
 * `{ name, ratio, target, unit, better: 'lower' | 'higher', details }[]`, or yields them. `programs` names what it starts besides Node: where one
 * is missing, the benchmark is skipped. Each result is printed as it comes.
 *
 * `--json` prints one JSON value at the end. `--smallest` runs everything once in its smallest size and judges no ratio. `--documented` compares
 * with the figures of docs/speed.md instead of the targets. Names given as arguments choose: `npm run bench -- lint`. Exit 1 when a target is missed,
 * a documented figure is off, or a benchmark fails.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { documented, TOLERANCE } from './documented/figures.mjs'

const options = ['--json', '--smallest', '--documented']
const [isJson, isSmallest, isDocumented] = options.map((option) => process.argv.includes(option))
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

const figures = new Map(documented().map(({ name, figure }) => [name, figure]))
const results = []
const skipped = []
const failed = []
for (const name of names) {
  if (chosen.length > 0 && !chosen.includes(name)) continue
  try {
    const { run, smallest = [], programs = [] } = await import(new URL(`${name}.mjs`, import.meta.url).href)
    const missing = programs.filter((program) => !isThere(program))
    if (missing.length > 0) {
      skipped.push({ name, missing })
      print(`SKIPPED ${name}: ${missing.join(', ')} missing; .ci/install has all programs`)
      continue
    }
    for await (const result of await run(...(isSmallest ? smallest : []))) {
      const judged = { ...result, ...(!isSmallest && { ok: isDocumented ? agrees(result) : within(result) }) }
      results.push(judged)
      print(row(judged))
    }
  } catch (error) {
    failed.push({ name, message: error.message })
    print(`FAILED ${name}: ${error.message}`)
  }
}

if (isDocumented && chosen.length === 0) {
  // A benchmark that was renamed would leave its figure unmeasured.
  const measured = new Set(results.map(({ name }) => name))
  for (const name of [...figures.keys()].filter((one) => !measured.has(one) && skipped.length === 0)) {
    failed.push({ name, message: 'docs/speed.md has it, and no benchmark measured it' })
    print(`FAILED ${name}: docs/speed.md has it, and no benchmark measured it`)
  }
}

if (isJson) console.log(JSON.stringify({ node: process.version, results, skipped, failed }))
process.exitCode = failed.length === 0 && results.every(({ ok }) => ok !== false) ? 0 : 1

function print(line) {
  if (!isJson) console.log(line)
}

function isThere(program) {
  // Servers are below sbin, which is not in the path of every user.
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` }
  return spawnSync('sh', ['-c', 'command -v "$0"', program], { env, stdio: 'ignore' }).status === 0
}

function within({ ratio, target, better }) {
  return better === 'lower' ? ratio <= target : ratio >= target
}

/** The documented figure is that of this run, but for what machines differ by. */
function agrees({ name, ratio }) {
  const figure = figures.get(name)
  return figure === undefined || Math.abs(ratio / figure - 1) <= TOLERANCE
}

function row({ ok, name, ratio, target, unit, better, details }) {
  const figure = `${ratio.toFixed(2)} ${unit}`.padEnd(28)
  const goal = `${better === 'lower' ? 'at most' : 'at least'} ${target}`
  const bound = (isDocumented ? `docs/speed.md ${figures.get(name) ?? 'has none'}` : goal).padEnd(16)
  const verdict = { true: 'ok     ', false: isDocumented ? 'OFF    ' : 'MISSED ' }[ok] ?? 'ran    '
  return `${verdict} ${name.padEnd(52)} ${figure} ${bound} ${text(details)}`.trimEnd()
}

function text(details) {
  if (details === undefined || typeof details === 'string') return details ?? ''
  return Object.entries(details)
    .map(([name, value]) => `${name} ${typeof value === 'number' ? Number(value.toPrecision(3)) : value}`)
    .join(', ')
}
