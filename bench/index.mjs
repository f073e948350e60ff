#!/usr/bin/env node
/**
 * Runs every benchmark of this folder and holds its ratios against their targets.
 *
 * A benchmark is a module with `run()`, which measures us and the peer in the same process, by turns, and gives
 * `{ name, ratio, target, unit, better: 'lower' | 'higher', details }[]`. `--json` prints one JSON value.
 * Names given as arguments choose: `npm run bench -- lint`. Exit 1 when a target is missed.
 */
import { readdirSync } from 'node:fs'

const chosen = process.argv.slice(2).filter((argument) => argument !== '--json')
const names = readdirSync(new URL('.', import.meta.url))
  .filter((name) => name.endsWith('.mjs') && name !== 'index.mjs')
  .map((name) => name.replace('.mjs', ''))
  .sort()
const unknown = chosen.filter((name) => !names.includes(name))
if (unknown.length > 0) {
  console.error(`unknown benchmark: ${unknown.join(', ')}. Benchmarks: ${names.join(', ')}; option: --json`)
  process.exit(2)
}

const results = []
for (const name of names) {
  if (chosen.length > 0 && !chosen.includes(name)) continue
  const { run } = await import(new URL(`${name}.mjs`, import.meta.url).href)
  for (const result of await run()) results.push({ ...result, ok: within(result) })
}

if (process.argv.includes('--json')) console.log(JSON.stringify({ node: process.version, results }))
else console.log(results.map(row).join('\n'))
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1

function within({ ratio, target, better }) {
  return better === 'lower' ? ratio <= target : ratio >= target
}

function row({ ok, name, ratio, target, unit, better, details }) {
  const figure = `${ratio.toFixed(2)} ${unit}`.padEnd(28)
  const bound = `${better === 'lower' ? 'at most' : 'at least'} ${target}`.padEnd(16)
  return `${ok ? 'ok    ' : 'MISSED'} ${name.padEnd(52)} ${figure} ${bound} ${text(details)}`.trimEnd()
}

function text(details) {
  if (details === undefined || typeof details === 'string') return details ?? ''
  return Object.entries(details)
    .map(([name, value]) => `${name} ${typeof value === 'number' ? Number(value.toPrecision(3)) : value}`)
    .join(', ')
}
