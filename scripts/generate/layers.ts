/** Fills the table of layers in CONTRIBUTING.md from what the architecture tests enforce. */
import { FOLDERS, LAYERS, VOCABULARY } from '../../test/architecture/layers.ts'
import { type Files, fill, table } from './files.ts'

/** Layers that are one file of `src/`; `platform/node` is the files of that name. */
const FILES: readonly string[] = ['errors', 'error-codes', 'engine', 'strategy', 'index']

const layers = Object.entries(LAYERS).map(([layer, { from, types = [], packages = [], lazily = [] }]) => {
  const below = [...from, ...types.map((name) => `types of ${name}`)]
  const loaded = [...packages, ...lazily.map((name) => `${name} (lazily)`)]
  const named = loaded.map((name) => name.replace(/^node:/, '`node:` modules')).join(', ')
  return [`\`${nameOf(layer)}\``, below.join(', ').replace(VOCABULARY.join(', '), 'the vocabulary') || 'nothing', named || 'none']
})

function nameOf(layer: string): string {
  if (FILES.includes(layer)) return `${layer}.ts`
  return layer === 'platform/node' ? 'platform/node*.ts' : `${layer}/`
}

const folders = Object.entries(FOLDERS).flatMap(([layer, inside]) =>
  Object.entries(inside).map(([folder, from]) => [
    `\`${layer}/${folder === '*' ? '*.ts' : folder.endsWith('.ts') ? folder : `${folder}/`}\``,
    from.map((name) => (name === '*' ? '`*.ts`' : name)).join(', ') || 'nothing',
  ]),
)
const tables = [table(['layer', 'may import', 'packages'], layers), table(['folder', 'may import, of the same layer'], folders)]

export const files: Files = { 'CONTRIBUTING.md': fill({ layers: tables.join('\n') }) }
