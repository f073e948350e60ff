/** The configuration file of `lint`. It is only read with `--config`, so a downloaded folder cannot configure the linter. */
import { dirname, join, relative, resolve, sep } from 'node:path'
import { type AuthError, ConfigurationError, isAuthError } from '../../errors.ts'
import { isAddress } from '../../http/url.ts'
import type { Levels } from '../../lint/config.ts'
import {
  type ConfigLayer,
  type Covers,
  configFaults,
  type LevelTable,
  type LintConfig,
  levelTable,
  PRESET_NAME,
  RULE_NAMES,
} from '../../lint/config.ts'
import { lintText } from '../../lint/lint.ts'
import { locate } from '../../lint/pointer.ts'
import type { Preset } from '../../lint/problem.ts'
import { forJson } from '../../text/sanitize.ts'
import { type Selection, skippedBy } from '../inputs/input-files.ts'
import type { Io } from '../io.ts'
import { readInput } from '../read-document.ts'

/** Rule options of the command line; they override the configuration file. */
export interface GivenRules {
  readonly config?: string
  readonly preset?: Preset
  readonly infos?: boolean
  readonly rule?: Levels
}

/** The levels of a run, and the configuration that they are from. */
export interface RunLevels extends LevelTable {
  /** All that affects results, and the origins of all configurations. */
  readonly config: { readonly origins: readonly string[]; readonly layers: readonly LintConfig[] }
  /** Files that were read. */
  readonly files: readonly string[]
  /** Patterns of skipped files, and the folders they are relative to. */
  readonly ignores: readonly { readonly folder: string; readonly patterns: readonly string[] }[]
}

/**
 * Returns the levels of a run and its configuration. Errors: `CONFIG_INVALID`, `FILE_ACCESS`.
 *
 * @param onFile called with each file before it is read, so that one that is missing or invalid can be watched
 */
export async function readLintConfig(
  { config: file, preset, infos, rule }: GivenRules,
  io: Io,
  onFile: (file: string) => void = () => {},
): Promise<RunLevels> {
  const read = file === undefined ? [] : await layersIn(file, io, onFile)
  const options = { ...(preset !== undefined && { preset }), ...(infos !== undefined && { infos }) }
  const layers: readonly ConfigLayer[] = [...read, { source: 'the command line', config: options, patternOf: () => () => false }]
  const configs = layers.map(({ config }) => config)
  return {
    ...levelTable(layers, rule ?? {}),
    config: { origins: configs.flatMap(({ origins = [] }) => origins), layers: configs },
    files: [...new Set(read.flatMap(({ file: name }) => name ?? []))],
    ignores: read.flatMap(({ file: name, config: { ignores = [] } }) =>
      name === undefined || ignores.length === 0 ? [] : [{ folder: dirname(resolve(name)), patterns: ignores }],
    ),
  }
}

/** A configuration of a file, or a preset that one extends. */
interface FileLayer extends ConfigLayer {
  readonly file?: string
}

/** Returns a configuration, after those that it extends, each once: at its last place, where it replaces what its other places would. */
async function layersIn(
  file: string,
  io: Io,
  onFile: (file: string) => void,
  below: readonly string[] = [],
  read = new Map<string, readonly FileLayer[]>(),
): Promise<readonly FileLayer[]> {
  const known = read.get(file)
  if (known) return known
  onFile(file)
  const { config, text } = await parseConfig(file, io, below)
  const { default: picomatch } = config.overrides ? await import('picomatch') : { default: never }
  const folder = dirname(resolve(file))
  // Paths outside the folder start with `../` and only match globs that do too.
  const nameOf = (document: string) => (isAddress(document) ? document : relative(folder, resolve(document)).split(sep).join('/'))
  const patternIn = (pattern: string): Covers => {
    const covers = patternOf(pattern, picomatch)
    return (document) => covers(nameOf(document))
  }
  const layers = new Map<string, FileLayer>()
  for (const [index, name] of [config.extends ?? []].flat().entries()) {
    const isPreset = name.startsWith(PRESET_NAME)
    const base = join(dirname(file), name)
    const path = [...below, resolve(file)]
    if (!isPreset && path.includes(resolve(base)))
      throw invalid(file, text, [
        { message: 'it extends itself', pointer: Array.isArray(config.extends) ? `/extends/${index}` : '/extends' },
      ])
    const extended = isPreset ? [presetLayer(name)] : await layersIn(base, io, onFile, path, read)
    for (const layer of extended) {
      layers.delete(layer.source)
      layers.set(layer.source, layer)
    }
  }
  const all = [...layers.values(), { source: file, file, config, patternOf: patternIn }]
  read.set(file, all)
  return all
}

function presetLayer(name: string): FileLayer {
  return { source: name, config: { preset: name.slice(PRESET_NAME.length) as Preset }, patternOf: () => () => false }
}

const never: Glob = () => () => false

async function parseConfig(
  file: string,
  io: Io,
  below: readonly string[],
): Promise<{ readonly config: LintConfig; readonly text: string }> {
  const by = below.at(-1)
  // Only the user can name stdin (`-`).
  const bytes = await readInput(by === undefined ? file : resolve(file), io).catch((error) => {
    throw by === undefined || !isAuthError(error) ? error : unreadableBase(error, by)
  })
  const text = new TextDecoder().decode(bytes)
  // The linter reports syntax errors and duplicate keys with their positions.
  const broken = lintText(text).find(({ code }) => code === 'not-json' || code === 'duplicate-key' || code === 'document-limit')
  if (broken) throw invalid(file, undefined, [{ ...broken, line: broken.line ?? 1 }])
  const config: unknown = JSON.parse(text)
  const faults = configFaults(config, RULE_NAMES)
  if (faults.length > 0) throw invalid(file, text, faults)
  return { config: config as LintConfig, text }
}

function unreadableBase({ code, message }: AuthError, by: string): ConfigurationError {
  const hint = `correct its path, which is relative to the folder of "${by}"`
  return new ConfigurationError(code, `"${by}" extends a file that cannot be read: ${message}`, { pointer: '/extends', hint })
}

interface Fault {
  readonly message: string
  readonly pointer: string
  /** Counted from 1; default: that of the pointer. */
  readonly line?: number
}

/** @param text the configuration; undefined for one that is no JSON, whose faults have lines */
function invalid(file: string, text: string | undefined, faults: readonly Fault[]): ConfigurationError {
  const pointers = faults.map((fault) => fault.pointer)
  const positions: ReturnType<typeof locate> = text === undefined ? new Map() : locate(text, pointers)
  const [first, ...others] = faults.map(
    ({ message: fault, pointer: at, line = positions.get(at)?.line ?? 1 }) =>
      new ConfigurationError('CONFIG_INVALID', `"${file}" line ${line}: ${fault}`, { pointer: at }),
  )
  const { message = `"${file}" is invalid`, pointer } = first ?? {}
  return new ConfigurationError('CONFIG_INVALID', message, {
    ...(pointer !== undefined && { pointer }),
    hint: 'stac-auth rules lists the rules; the JSON Schema of the file is stac-auth/schemas/lint-config.json',
    reasons: others,
  })
}

/** Returns the configuration of one document as JSON: each level, where it is set and why, and whether the document is skipped in folders. */
export async function printedConfig(document: string, options: GivenRules & Pick<Selection, 'ignore'>, io: Io): Promise<string> {
  const levels = await readLintConfig(options, io)
  const isSkipped = await skippedBy({ ignore: options.ignore ?? [], ignores: levels.ignores })
  const { preset, files } = levels
  const about = forJson({ document, preset, files, ignored: !isAddress(document) && isSkipped(document) }, 2)
  const rules = Object.entries(levels.explain(document)).map(([code, set]) => `    ${forJson(code)}: ${forJson(set)}`)
  // A line for each code.
  return `${about.replace(/\n\}$/, '')},\n  "rules": {\n${rules.join(',\n')}\n  }\n}\n`
}

/** Compiles a glob. */
type Glob = (glob: string, options: { readonly dot: boolean }) => Covers

/**
 * Compiles a pattern of an override: a URL matches all URLs below it, a pattern without a slash a file name in any folder, one
 * that ends in a slash everything below that folder; any other pattern is a glob.
 */
export function patternOf(pattern: string, glob: Glob): Covers {
  if (/^https?:\/\//i.test(pattern)) return (document) => isBelow(document, pattern)
  const plain = pattern.replace(/^\.\//, '')
  const covers = glob(plain.includes('/') ? plain.replace(/\/$/, '/**') : `**/${plain}`, { dot: true })
  return (document) => !document.includes('://') && covers(document.replace(/^\.\//, ''))
}

function isBelow(document: string, prefix: string): boolean {
  if (!document.startsWith(prefix)) return false
  return prefix.endsWith('/') || document.length === prefix.length || /[/?#]/.test(document[prefix.length] ?? '')
}
