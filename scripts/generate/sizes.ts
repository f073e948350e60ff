/**
 * Fills the tables of docs/sizes.md and docs/embed.md with what users load. Compression differs a little between versions of Node: as long as no figure is off
 * by more than 0.2 kB, the page is fresh.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundle, bundleProgram } from '../bundle.ts'
import { EMBEDDED, ENTRIES, type Measured, OTHERS, STRATEGIES } from '../sizes.ts'
import { builtByVite, gzipped, ONE_FETCH, scriptsFor } from '../vite-page.ts'
import { type Files, fill, root } from './files.ts'

const EMBED = 'docs/embed.md'
const TOLERANCE = 0.2
const FIGURE = /\d+\.\d(?= kB)/g

const entries = [...ENTRIES, ...adapters()]
const tables = {
  strategies: await sizeTable(STRATEGIES, 'after the first `fetch` by'),
  vite: await pages(),
  entries: await sizeTable(entries, 'entry'),
  others: await sizeTable(OTHERS, 'package'),
}
const filled = fill(tables)

/** The program of docs/embed.md, and what it has loaded in the end. */
const embedded = readFileSync(join(root, EMBED), 'utf8')
const [, program = ''] = /```ts\n([\s\S]*?)```/.exec(embedded) ?? []
const filledEmbed = fill({ program: await programTable() })

export const files: Files = {
  'docs/sizes.md': (page) => (agree(page, filled(page)) ? page : filled(page)),
  [EMBED]: (page) => (agree(page, filledEmbed(page)) ? page : filledEmbed(page)),
}

async function programTable(): Promise<string> {
  if (!program.includes('defineStacAuth()')) throw new Error(`${EMBED} does not begin with a program that defines the element`)
  const rows = await Promise.all(
    EMBEDDED.map(async ({ name, later }) => `| ${name} | ${kB((await bundleProgram(program, later)).eager)} |`),
  )
  return ['| this program | loaded in all |', '| --- | ---: |', ...rows, ''].join('\n')
}

async function sizeTable(rows: readonly Measured[], what: string): Promise<string> {
  const lines: string[] = []
  for (const { name, atOnce, later } of rows) {
    const last = later && kB((await bundle([atOnce, ...later])).eager)
    lines.push(`| ${name} | ${kB((await bundle(atOnce)).eager)} | ${last ?? ''} |`)
  }
  return [`| ${what} | at once | in the end |`, '| --- | ---: | ---: |', ...lines, ''].join('\n')
}

/** The rows of the core once more, as Vite cuts them. */
async function pages(): Promise<string> {
  const chunks = await builtByVite(ONE_FETCH)
  const rows = STRATEGIES.filter(({ atOnce }) => atOnce === 'dist/index.js')
  const lines = rows.map(({ name, later = [] }) => {
    const scripts = scriptsFor(chunks, later)
    return `| ${name} | ${scripts.length} | ${kB(gzipped(scripts))} |`
  })
  return ['| after the first `fetch` by | scripts | bytes |', '| --- | ---: | ---: |', ...lines, ''].join('\n')
}

/** The one for a validator never runs in a browser. */
function adapters(): readonly Measured[] {
  const names = readdirSync(new URL('../../dist/adapters', import.meta.url)).flatMap((file) => /^([\w-]+)\.js$/.exec(file)?.[1] ?? [])
  const inPages = names.filter((name) => name !== 'stac-node-validator').sort()
  return inPages.map((name) => ({ name: `\`stac-auth/adapters/${name}\``, atOnce: `dist/adapters/${name}.js` }))
}

function kB(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`
}

function agree(one: string, other: string): boolean {
  const figures = (text: string) => [...text.matchAll(FIGURE)].map(([figure]) => Number(figure))
  const [known, found] = [figures(one), figures(other)]
  if (one.replace(FIGURE, '') !== other.replace(FIGURE, '')) return false
  return known.every((figure, index) => Math.abs(figure - (found[index] ?? 0)) <= TOLERANCE + 1e-9)
}
