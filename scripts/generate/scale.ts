/** Fills the table of docs/scale.md with the figures that `node bench/scale.mjs --write` has measured. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Files, fill, root, table } from './files.ts'

interface Figures {
  readonly date: string
  readonly node: string
  readonly machine: string
  readonly rows: readonly { readonly work: string; readonly perCpuSecond: number; readonly unit: string; readonly command: string }[]
}

const { date, node, machine, rows }: Figures = JSON.parse(readFileSync(join(root, 'bench/scale.json'), 'utf8'))

const cells = rows.map(({ work, perCpuSecond, unit, command }) => [work, `${perCpuSecond.toLocaleString('en')} ${unit}`, `\`${command}\``])

export const files: Files = {
  'docs/scale.md': fill({
    figures: `Measured on ${date} by \`node bench/scale.mjs --write\`, Node ${node}, ${machine}; whole processes with their start, per second of CPU, while other programs kept the machine busy:\n\n${table(['work', 'figure', 'command'], cells)}`,
  }),
}
