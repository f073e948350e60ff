/** The configuration file of `lint`. It is only read with `--config`, so a downloaded folder cannot configure the linter. */
import { dirname, relative, resolve, sep } from 'node:path'
import { ConfigurationError } from '../../errors.ts'
import { isAddress } from '../../http/url.ts'
import type { Levels } from '../../lint/config.ts'
import { type Covers, configFaults, type LevelTable, type LintConfig, levelTable, RULE_NAMES } from '../../lint/config.ts'
import { lintText } from '../../lint/lint.ts'
import { locate } from '../../lint/pointer.ts'
import type { Preset } from '../../lint/problem.ts'
import type { Io } from '../io.ts'
import { readInput } from '../read-document.ts'

/** Rule options of the command line; they override the configuration file. */
export interface GivenRules {
  readonly config?: string
  readonly preset?: Preset
  readonly infos?: boolean
  readonly rule?: Levels
}

/** The levels of a run, its configuration, and the files that were read for it. */
export interface ConfiguredLevels extends LevelTable {
  readonly config: LintConfig
  readonly files: readonly string[]
}

/** Returns the levels of a run and its configuration. Errors: `CONFIG_INVALID`, `FILE_ACCESS`. */
export async function readLintConfig({ config: file, preset, infos, rule }: GivenRules, io: Io): Promise<ConfiguredLevels> {
  const read = file === undefined ? {} : await parseConfig(file, io)
  const config = { ...read, ...(preset !== undefined && { preset }), ...(infos !== undefined && { infos }) }
  const { default: picomatch } = config.overrides ? await import('picomatch') : { default: never }
  const table = levelTable(config, rule ?? {}, (pattern) => patternOf(pattern, picomatch))
  const folder = dirname(resolve(file ?? '.'))
  // Paths outside the folder start with `../` and only match globs that do too.
  const nameOf = (document: string) => (isAddress(document) ? document : relative(folder, resolve(document)).split(sep).join('/'))
  return {
    config,
    files: file === undefined ? [] : [file],
    preset: table.preset,
    levelsFor: (document, shown) => table.levelsFor(config.overrides ? nameOf(document) : document, shown),
  }
}

const never: Glob = () => () => false

async function parseConfig(file: string, io: Io): Promise<LintConfig> {
  const text = new TextDecoder().decode(await readInput(file, io))
  // The linter reports syntax errors and duplicate keys with their positions.
  const broken = lintText(text).find(({ code }) => code === 'not-json' || code === 'duplicate-key' || code === 'document-limit')
  if (broken) throw invalid(file, [{ message: broken.message, pointer: broken.pointer, line: broken.line ?? 1 }])
  const config: unknown = JSON.parse(text)
  const faults = configFaults(config, RULE_NAMES)
  const positions = locate(
    text,
    faults.map(({ pointer }) => pointer),
  )
  if (faults.length > 0)
    throw invalid(
      file,
      faults.map((fault) => ({ ...fault, line: positions.get(fault.pointer)?.line ?? 1 })),
    )
  return config as LintConfig
}

interface PlacedFault {
  readonly message: string
  readonly pointer: string
  readonly line: number
}

function invalid(file: string, faults: readonly PlacedFault[]): ConfigurationError {
  const [first, ...others] = faults.map(
    ({ message: fault, pointer: at, line }) =>
      new ConfigurationError('CONFIG_INVALID', `"${file}" line ${line}: ${fault}`, { pointer: at }),
  )
  const { message = `"${file}" is invalid`, pointer } = first ?? {}
  return new ConfigurationError('CONFIG_INVALID', message, {
    ...(pointer !== undefined && { pointer }),
    hint: 'stac-auth rules lists the rules; the JSON Schema of the file is stac-auth/schemas/lint-config.json',
    reasons: others,
  })
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
