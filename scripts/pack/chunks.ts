/**
 * Joins the built modules into few files for the package. What is always loaded together becomes one file; then the smallest files are
 * joined with others, where entries and `import()` load hardly more than before, and no further package. What pages load is only joined
 * with what the same pages use at the same time: bundlers do not divide files, so that a page would get all of it.
 */
import { dirname, join, posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Metafile, type Plugin } from 'esbuild'
import { type OutputChunk, rolldown } from 'rolldown'
import { onDemandApart } from '../bundle.ts'
import { ENTRIES, STRATEGIES } from '../sizes.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Where joined files are: two folders below the package, as what finds its other files by `import.meta.url` expects. */
const FOLDER = 'chunks'
/** A package counts so much that no file which loads one is joined with a file that does not. */
const PACKAGE_BYTES = 1e12
/** Among so small chunks it matters little what a page uses of them. */
const SMALL_BYTES = 4000

/** What no page loads. */
const FOR_NODE = /^dist\/(?:node\/|cli\/|platform\/node)/

/**
 * How much a byte more counts that is loaded by an entry or by an `import()`; most where the size is published (docs/sizes.md). What
 * commands load counts as entries do, because nobody waits as often as for a command to start.
 */
const WEIGHTS = { published: 20_000, entry: 600, command: 300, inNode: 100, inPages: 5 }
const PUBLISHED = new Set([...STRATEGIES, ...ENTRIES].flatMap(({ atOnce, later = [] }) => [atOnce, ...later]))
/** Programs in Node begin with the first, commands with the others. */
const IN_NODE = ['dist/node/index.js', 'dist/cli/io.js', 'dist/cli/main.js', 'dist/cli/program.js']

export interface Module {
  readonly bytes: number
  /** What is loaded with it: modules, packages. */
  readonly at: readonly string[]
  readonly later: readonly string[]
}

interface Chunk {
  readonly modules: readonly string[]
  readonly bytes: number
}

export interface PublishedFile {
  /** Path below `dist`. */
  readonly path: string
  readonly text: string
}

export interface Joined extends PublishedFile {
  /** Paths of the built modules for which `import()` loads this file. */
  readonly modules: readonly string[]
}

/**
 * Returns the joined files: one for each entry at its own path, the others below `chunks`.
 *
 * @param entries paths below `dist`
 * @param most how many files there may be
 */
export async function joined(entries: readonly string[], most: number): Promise<readonly Joined[]> {
  const modules = await graph(entries)
  const usedBy = new Map(await Promise.all(entries.map(async (path) => [`dist/${path}`, await usedAtOnce(`dist/${path}`)] as const)))
  for (let goal = most; ; ) {
    const files = await written(entries, modules, fewChunks(modules, entries, usedBy, goal))
    if (files.length <= most) return files
    // The bundler adds some, such as its own helpers.
    goal -= files.length - most
  }
}

async function written(
  entries: readonly string[],
  modules: ReadonlyMap<string, Module>,
  chunks: readonly Chunk[],
): Promise<readonly Joined[]> {
  const names = new Map(chunks.flatMap(({ modules: members }) => members.map((path) => [join(root, path), nameOf(members, modules)])))
  const bundle = await rolldown({
    input: Object.fromEntries(entries.map((path) => [path.replace(/\.js$/, ''), join(root, 'dist', path)])),
    external: (id) => !/^[./]/.test(id),
    platform: 'neutral',
    treeshake: { moduleSideEffects: false },
    preserveEntrySignatures: 'allow-extension',
    onLog: (level, { code, message }) => {
      if (level === 'warn' && code !== 'INEFFECTIVE_DYNAMIC_IMPORT') throw new Error(message)
    },
  })
  const { output } = await bundle.generate({
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: `${FOLDER}/[name].js`,
    minify: false,
    minifyInternalExports: false,
    codeSplitting: { includeDependenciesRecursively: false, groups: [{ debugName: 'chunks', name: (id) => names.get(id) ?? null }] },
  })
  await bundle.close()
  return withoutFacades(output.filter((file) => file.type === 'chunk'))
}

/** Leaves out files that only pass on what other files export: `import()` names those instead. */
function withoutFacades(chunks: readonly OutputChunk[]): readonly Joined[] {
  const facades = new Map(chunks.filter(isFacade).map((chunk) => [chunk.fileName, passedOn(chunk)]))
  const empty = new Set(chunks.flatMap(({ fileName, code }) => (code.trim() ? [] : [posix.basename(fileName)])))
  const rest = chunks.filter(({ fileName }) => !facades.has(fileName) && !empty.has(posix.basename(fileName)))
  const passing = chunks.filter(isFacade).flatMap(({ fileName, facadeModuleId }) => {
    const sources = new Set(facades.get(fileName)?.map(({ from }) => from))
    return [...sources].map((from) => ({ from, id: facadeModuleId ?? '' }))
  })
  return rest.map(({ fileName, code, moduleIds }) => ({
    path: fileName,
    modules: [...moduleIds, ...passing.flatMap(({ from, id }) => (from === fileName ? [id] : []))].map((id) => relative(root, id)),
    text: code
      .replace(/^import "[^"]*\/([^"/]+)";\n/gm, (whole, name: string) => (empty.has(name) ? '' : whole))
      .replace(/\bimport\("(\.[^"]+)"\)/g, (whole, to: string) => {
        const names = facades.get(posix.join(dirname(fileName), to))
        if (!names) return whole
        return importOf(fileName, names)
      }),
  }))
}

/** The `import()` of what a facade passes on, in a file. */
function importOf(fileName: string, names: readonly PassedOn[]): string {
  const sources = [...new Set(names.map(({ from }) => from))]
  const paths = sources.map((source) => posix.relative(dirname(fileName), source).replace(/^(?!\.)/, './'))
  if (paths.length === 1 && names.every(({ exported, own }) => exported === own)) return `import("${paths[0]}")`
  const members = names.map(({ exported, own, from }) => `${exported}: from${sources.indexOf(from)}.${own}`).join(', ')
  const parts = sources.map((_source, index) => `from${index}`).join(', ')
  return `Promise.all([${paths.map((path) => `import("${path}")`).join(', ')}]).then(([${parts}]) => ({ ${members} }))`
}

function isFacade({ isDynamicEntry, isEntry, modules }: OutputChunk): boolean {
  return isDynamicEntry && !isEntry && Object.keys(modules).length === 0
}

interface PassedOn {
  readonly exported: string
  /** The name under which the file `from` exports it. */
  readonly own: string
  readonly from: string
}

/** What a facade exports: its text is nothing but imports and a list of exports. */
function passedOn({ fileName, code }: OutputChunk): readonly PassedOn[] {
  const listed = (text: string) => [...text.matchAll(/([\w$]+)(?: as ([\w$]+))?/g)].map(([, name = '', as = name]) => ({ name, as }))
  const imported = new Map(
    [...code.matchAll(/^import \{([^}]+)\} from "([^"]+)";$/gm)].flatMap(([, names = '', from = '']) =>
      listed(names).map(({ name, as }) => [as, { own: name, from: posix.join(dirname(fileName), from) }] as const),
    ),
  )
  const [, exported = ''] = /^export \{([^}]+)\};$/m.exec(code) ?? []
  return listed(exported).map(({ name, as }) => {
    const source = imported.get(name)
    if (!source) throw new Error(`${fileName} exports ${name}, which it does not import`)
    return { exported: as, ...source }
  })
}

/** All modules in a folder that the entries lead to, by their paths. */
export async function graph(entries: readonly string[], folder = root): Promise<ReadonlyMap<string, Module>> {
  const metafile = await metafileOf(
    entries.map((path) => `dist/${path}`),
    folder,
  )
  const platforms = entries.filter((path) => path.startsWith('platform/')).map((path) => `dist/${path}`)
  const named = (path: string) => (path === '#platform' ? platforms : path.startsWith('node:') ? [] : [path])
  return new Map(
    Object.entries(metafile.inputs).map(([path, { bytes, imports }]) => {
      const of = (kind: string) => imports.filter((one) => one.kind === kind).flatMap((one) => named(one.path))
      return [path, { bytes, at: of('import-statement'), later: of('dynamic-import').filter((one) => one.startsWith('dist/')) }]
    }),
  )
}

/** The modules of which something is left at once in a page that imports all of an entry. */
async function usedAtOnce(entry: string): Promise<ReadonlySet<string>> {
  const metafile = await metafileOf([entry], root, onDemandApart)
  const outputs = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs))
  return new Set(outputs.flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])))
}

/** What esbuild says of modules and all that they lead to. */
async function metafileOf(entryPoints: readonly string[], folder: string, ...plugins: readonly Plugin[]): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: folder,
    entryPoints: [...entryPoints],
    plugins: [...plugins],
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    external: ['#platform'],
    target: 'es2022',
    outdir: 'out',
    write: false,
    metafile: true,
    logLevel: 'warning',
  })
  return metafile
}

/** What a chunk leads to, itself included, and which roots load it. */
interface Place {
  readonly needs: ReadonlySet<Chunk>
  readonly closure: ReadonlySet<Chunk>
  /** What loads it, each with how much a byte more counts there. */
  readonly roots: ReadonlyMap<string, number>
}

/** Divides the modules into chunks that are always loaded as a whole, then joins the smallest with those where that costs least. */
function fewChunks(
  modules: ReadonlyMap<string, Module>,
  entries: readonly string[],
  usedBy: ReadonlyMap<string, ReadonlySet<string>>,
  most: number,
): readonly Chunk[] {
  const starts = entries.map((path) => `dist/${path}`)
  const inPages = new Set(starts.flatMap((path) => [...reached(modules, [path], true, FOR_NODE)]))
  const later = [...modules.values()].flatMap((module) => module.later)
  const weights = new Map<string, number>()
  for (const path of later) weights.set(path, weightOf(path))
  for (const path of starts) weights.set(path, WEIGHTS.entry)
  for (const path of [...PUBLISHED, ...IN_NODE]) if (weights.has(path)) weights.set(path, WEIGHTS.published)
  // What an entry alone loads is in the file of the entry.
  const alone = new Set(
    starts.filter((path) => starts.concat(later).every((other) => other === path || !reached(modules, [other]).has(path))),
  )
  const isFree = ({ modules: members }: Chunk) => members.every((path) => !alone.has(path) && modules.has(path))
  // For each page with one entry: whether it uses the module at once, or may load it later.
  const kinds = new Map([...inPages].map((path) => [path, '']))
  for (const start of starts) {
    const used = usedBy.get(start)
    for (const path of reached(modules, [start], true, FOR_NODE))
      kinds.set(path, `${kinds.get(path) ?? ''} ${start}${used?.has(path) ? '' : ' later'}`)
  }
  const kindOf = ({ modules: members, bytes }: Chunk) => {
    const [path = ''] = members
    if (!inPages.has(path)) return 'node'
    return bytes < SMALL_BYTES && members.every((member) => modules.get(member)?.later.length === 0) ? 'small' : (kinds.get(path) ?? '')
  }
  let chunks = alwaysTogether(modules, [...weights.keys()])
  // What a join may cost, as little as suffices.
  let limit = 1000
  while (starts.length + chunks.filter(isFree).length > most) {
    const places = placesOf(chunks, modules, weights)
    const free = chunks.filter(isFree).sort((one, other) => one.bytes - other.bytes)
    const pair = firstPair(free, limit, kindOf, places)
    if (pair) {
      const joint = { modules: pair.flatMap((chunk) => chunk.modules), bytes: pair.reduce((sum, { bytes }) => sum + bytes, 0) }
      chunks = [...chunks.filter((chunk) => !pair.includes(chunk)), joint]
    } else if (limit < PACKAGE_BYTES / 1000) limit *= 1.5
    else throw new Error(`more than ${most} files are needed`)
  }
  return chunks.filter(isFree)
}

/** How much a byte more counts that `import()` loads with a module. */
function weightOf(path: string): number {
  if (path.startsWith('dist/cli/')) return WEIGHTS.command
  return FOR_NODE.test(path) ? WEIGHTS.inNode : WEIGHTS.inPages
}

/** The modules and packages that are loaded with these; with `later` also those that `import()` loads. */
export function reached(
  modules: ReadonlyMap<string, Module>,
  paths: readonly string[],
  later = false,
  without?: RegExp,
): ReadonlySet<string> {
  const found = new Set<string>()
  const visit = (path: string) => {
    if (found.has(path) || without?.test(path)) return
    found.add(path)
    const module = modules.get(path)
    for (const next of [...(module?.at ?? []), ...((later && module?.later) || [])]) visit(next)
  }
  paths.forEach(visit)
  return found
}

/** A chunk for each set of roots: all that just these load. Packages are chunks of their own. */
function alwaysTogether(modules: ReadonlyMap<string, Module>, roots: readonly string[]): readonly Chunk[] {
  const loadedBy = new Map<string, string>()
  roots.forEach((start, index) => {
    for (const path of reached(modules, [start])) loadedBy.set(path, `${loadedBy.get(path) ?? ''} ${index}`)
  })
  const groups = new Map<string, string[]>()
  for (const [path, by] of loadedBy) {
    const key = modules.has(path) ? by : path
    groups.set(key, [...(groups.get(key) ?? []), path])
  }
  return [...groups.values()].map((members) => ({
    modules: members,
    bytes: members.reduce((sum, path) => sum + (modules.get(path)?.bytes ?? PACKAGE_BYTES), 0),
  }))
}

function placesOf(
  chunks: readonly Chunk[],
  modules: ReadonlyMap<string, Module>,
  weights: ReadonlyMap<string, number>,
): ReadonlyMap<Chunk, Place> {
  const chunkOf = new Map(chunks.flatMap((chunk) => chunk.modules.map((path) => [path, chunk] as const)))
  const needs = new Map(
    chunks.map((chunk) => [
      chunk,
      new Set(chunk.modules.flatMap((path) => (modules.get(path)?.at ?? []).flatMap((to) => chunkOf.get(to) ?? []))),
    ]),
  )
  const closureOf = (chunk: Chunk, found = new Set<Chunk>()): Set<Chunk> => {
    if (found.has(chunk)) return found
    found.add(chunk)
    for (const next of needs.get(chunk) ?? []) closureOf(next, found)
    return found
  }
  const places = new Map(
    chunks.map((chunk) => [chunk, { needs: needs.get(chunk) ?? new Set(), closure: closureOf(chunk), roots: new Map<string, number>() }]),
  )
  for (const [entry, weight] of weights) {
    const start = chunkOf.get(entry)
    for (const chunk of (start && places.get(start)?.closure) ?? []) places.get(chunk)?.roots.set(entry, weight)
  }
  return places
}

/** The smallest chunk that can be joined with another so that the roots load hardly more, and no two chunks need each other. */
function firstPair(
  free: readonly Chunk[],
  limit: number,
  kindOf: (chunk: Chunk) => string,
  places: ReadonlyMap<Chunk, Place>,
): readonly Chunk[] | undefined {
  for (const [index, small] of free.entries()) {
    const others = free.slice(index + 1).filter((other) => kindOf(other) === kindOf(small))
    const costs = others.map((other) => ({ other, cost: costOf(other, small, places, costOf(small, other, places, 0, limit), limit) }))
    const sorted = costs.filter(({ cost }) => cost <= limit).sort((one, another) => one.cost - another.cost)
    const best = sorted.find(({ other }) => !leadsBack(small, other, places) && !leadsBack(other, small, places))
    if (best) return [small, best.other]
  }
  return undefined
}

/** A cost, and what the roots of one chunk load more when it comes with another; counted no further than the limit. */
function costOf(chunk: Chunk, other: Chunk, places: ReadonlyMap<Chunk, Place>, before: number, limit: number): number {
  const [here, there] = [places.get(chunk), places.get(other)]
  let cost = before
  for (const [start, weight] of here?.roots ?? []) {
    if (there?.roots.has(start)) continue
    for (const part of there?.closure ?? []) if (!places.get(part)?.roots.has(start)) cost += part.bytes * weight
    if (cost > limit) break
  }
  return cost
}

/** Whether a chunk needs another through a third. */
function leadsBack(chunk: Chunk, other: Chunk, places: ReadonlyMap<Chunk, Place>): boolean {
  return [...(places.get(chunk)?.needs ?? [])].some((next) => next !== other && next !== chunk && places.get(next)?.closure.has(other))
}

/** The name of the largest module. */
function nameOf(members: readonly string[], modules: ReadonlyMap<string, Module>): string {
  const [largest = ''] = [...members].sort((one, other) => (modules.get(other)?.bytes ?? 0) - (modules.get(one)?.bytes ?? 0))
  return largest.replace(/^dist\/|\.js$/g, '').replaceAll('/', '-')
}
