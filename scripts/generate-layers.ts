/** Fills the table of layers in CONTRIBUTING.md from the table that the architecture tests enforce. */
import { readFileSync } from 'node:fs'
import { FOLDERS, LAYERS } from '../test/architecture/layers.ts'
import { checkOnly, emit } from './emit.ts'

/** Layers that are one file of `src/`; `platform/node` is the files of that name. */
const FILES: readonly string[] = ['errors', 'error-codes', 'engine', 'strategy', 'index']

const rows = Object.entries(LAYERS).map(([layer, { from, types = [], packages = [], lazily = [] }]) => {
  const layers = [...from, ...types.map((name) => `types of ${name}`)]
  const loaded = [...packages, ...lazily.map((name) => `${name} (lazily)`)]
  return `| \`${nameOf(layer)}\` | ${layers.join(', ') || 'nothing'} | ${loaded.map((name) => name.replace(/^node:/, '`node:` modules')).join(', ') || 'none'} |`
})

const folderRows = Object.entries(FOLDERS).flatMap(([layer, folders]) =>
  Object.entries(folders).map(
    ([folder, from]) => `| \`${folder === '*' ? `${layer}/*.ts` : `${layer}/${folder}/`}\` | ${from.join(', ') || 'nothing'} |`,
  ),
)

const page = new URL('../CONTRIBUTING.md', import.meta.url)
const layerTable = ['| layer | may import | packages |', '| --- | --- | --- |', ...rows]
const folderTable = ['| folder | may import, of the same layer |', '| --- | --- |', ...folderRows]
const table = [...layerTable, '', ...folderTable, ''].join('\n')
const filled = readFileSync(page, 'utf8').replace(
  /(<!-- generated: layers -->\n)[\s\S]*?(<!-- end -->)/,
  (_all, open: string, close: string) => `${open}${table}${close}`,
)
emit(page, filled, checkOnly())

function nameOf(layer: string): string {
  if (FILES.includes(layer)) return `${layer}.ts`
  return layer === 'platform/node' ? 'platform/node*.ts' : `${layer}/`
}
