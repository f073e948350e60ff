/** The table of validators in docs/speed.md, of the figures that `node bench/mistakes.mjs --write` measured. */
import { readFileSync } from 'node:fs'
import { type Files, fill, root, table } from './files.ts'

interface Figures {
  readonly date: string
  readonly node: string
  readonly processors: number
  readonly items: number
  readonly mistakes: number
  readonly programs: readonly {
    readonly name: string
    readonly version: string
    readonly found: number
    readonly missed: number
    readonly alarms: number
    readonly seconds: number
    readonly cpu: number
    readonly memory: number
  }[]
}

const { date, node, processors, items, mistakes, programs }: Figures = read('bench/mistakes.json')

for (const { name, version } of programs.filter((program) => program.name !== 'stac-auth')) {
  const installed = read<{ version: string }>(`node_modules/${name}/package.json`).version
  if (installed !== version)
    throw new Error(`docs/speed.md has ${name} ${version}, but ${installed} is installed: run node bench/mistakes.mjs --write`)
}

const head = ['program', 'found', 'missed', 'Items without a mistake refused', 'seconds', 'CPU seconds', 'memory at its peak']
const rows = programs.map(({ name, version, found, missed, alarms, seconds, cpu, memory }) => {
  const times = [seconds.toFixed(1), cpu.toFixed(1), `${memory} MiB`]
  return [`\`${name}\` ${version}`, `${found}`, `${missed}`, `${alarms}`, ...times]
})
const when = `${mistakes} mistakes in ${items} Items; ${date}, Node ${node.replace('v', '')}, ${processors} processors.\n`

export const files: Files = { 'docs/speed.md': fill({ validators: `${table(head, rows)}\n${when}` }) }

function read<T>(path: string): T {
  return JSON.parse(readFileSync(`${root}/${path}`, 'utf8'))
}
