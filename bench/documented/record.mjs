/** The figures of `bench/speed.json`: what the last `node bench/index.mjs --write` has measured. Pages are generated from it. */
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'

const FILE = new URL('../speed.json', import.meta.url)

/** The last run of each benchmark by its name: `{ date, node, machine, results: { name, figure, unit, target, better, … }[] }`. */
export function recorded() {
  return JSON.parse(readFileSync(FILE, 'utf8'))
}

/** Keeps the results of a benchmark, instead of those of its last run. */
export function record(benchmark, results) {
  const [{ model }] = cpus()
  const run = {
    date: new Date().toISOString().slice(0, 10),
    node: process.versions.node,
    machine: `${cpus().length} × ${model.trim()}`,
    results: results.map(({ details: _details, ratio, ...result }) => ({
      ...result,
      figure: Number(ratio.toPrecision(ratio < 1 ? 2 : 3)),
    })),
  }
  const all = Object.entries({ ...recorded(), [benchmark]: run }).sort(([one], [other]) => (one < other ? -1 : 1))
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`)
}
