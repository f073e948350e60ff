/** The levels of the rules, and the configuration that sets them. It names no credentials and allows no URLs. */

import { isObject, own, pointer } from '../stac/document.ts'
import { canParseUrl } from '../text/can-parse-url.ts'
import { nearMiss } from '../text/suggest.ts'
import { LEVELS, type Level, PRESETS, type Preset } from './problem.ts'
import type { CaseMeta, Rule, RuleCase } from './rule.ts'
import { rules } from './rules/index.ts'

/** A configuration as `schemas/lint-config.json` describes it. */
export interface LintConfig {
  /** Presets as `stac-auth:strict`, and relative paths of other configurations; later ones go before earlier ones, and this one before all. */
  readonly extends?: string | readonly string[]
  readonly preset?: Preset
  /** Also reports findings that have the level `info` in the preset `recommended`. */
  readonly infos?: boolean
  readonly rules?: ConfiguredLevels
  readonly overrides?: readonly Override[]
  /** Patterns as in a `.gitignore` file in the folder of the configuration. */
  readonly ignores?: readonly string[]
  /** Further origins that a crawl may visit. This allows no credential for them: only the user's credential file does. */
  readonly origins?: readonly string[]
}

/** Levels by the id of a rule or the code of a case, alone or with the reason for them. */
export type ConfiguredLevels = Readonly<Record<string, Level | { readonly level: Level; readonly reason?: string }>>

/** Levels for some documents; later overrides go before earlier ones. */
interface Override {
  /** Globs relative to the folder of the configuration, or prefixes of URLs. */
  readonly files: readonly string[]
  readonly rules: ConfiguredLevels
  /** Why; required when a rule is switched off without a reason of its own. */
  readonly reason?: string
}

/** True for a document that a pattern of an override covers. */
export type Covers = (document: string) => boolean

/** One of the configurations of a run, and where it is from. */
export interface ConfigLayer {
  /** The name of its file, or the preset that it is. */
  readonly source: string
  readonly config: LintConfig
  /** Parses a glob or the prefix of a URL. */
  readonly patternOf: (pattern: string) => Covers
}

/** The level of a code, where it is set, and why. */
export interface SetLevel {
  readonly level: Level
  /** The source of the configuration, and the pointer there. */
  readonly from: string
  readonly reason?: string
}

/** The levels of each document of a run. */
export interface LevelTable {
  readonly preset: Preset
  /**
   * Returns the same object for documents with the same levels, so that the linter can cache by it. Fixes use findings of the level
   * `info` too: they pass `withInfos`.
   */
  levelsFor(document: string, withInfos?: boolean): Levels
  /** Returns the level of each code for a document, and where it is set. */
  explain(document: string): Readonly<Record<string, SetLevel>>
}

/** Levels by code for the documents that fit. */
interface Step {
  readonly fits: Covers
  readonly levels: Levels
  readonly set: Readonly<Record<string, SetLevel>>
}

/**
 * Returns the table of levels: each layer replaces levels of those before it, in it matching overrides replace the others, and `given`
 * replaces all.
 */
export function levelTable(layers: readonly ConfigLayer[], given: Levels): LevelTable {
  const preset = layers.findLast(({ config }) => config.preset)?.config.preset ?? 'recommended'
  const infos = layers.findLast(({ config }) => config.infos !== undefined)?.config.infos ?? false
  const quiet = preset === 'recommended' ? NO_INFOS : {}
  const steps = [...layers.flatMap(stepsOf), stepOf(given, () => true, '--rule', undefined)]
  const tables = new Map<string, Levels>()
  return {
    preset,
    levelsFor(document, withInfos = infos) {
      const fitting = steps.filter(({ fits }) => fits(document))
      const key = fitting.map((step) => steps.indexOf(step)).join() + (withInfos ? '' : ' quiet')
      const known = tables.get(key) ?? Object.assign({}, withInfos ? {} : quiet, ...fitting.map(({ levels }) => levels))
      tables.set(key, known)
      return known
    },
    explain(document) {
      const explained: Record<string, SetLevel> = {}
      for (const { code, severity } of allCases()) {
        const isOff = !infos && Object.hasOwn(quiet, code)
        explained[code] = { level: isOff ? 'off' : severity[preset], from: `preset ${preset}${isOff ? ', without infos' : ''}` }
        for (const { fits, set } of steps) if (set[code] && fits(document)) explained[code] = set[code]
      }
      return explained
    },
  }
}

function stepsOf({ source, config: { rules: levels = {}, overrides = [] }, patternOf }: ConfigLayer): readonly Step[] {
  return [
    stepOf(levels, () => true, `${source} /rules`, undefined),
    ...overrides.map((override, index) => {
      const patterns = override.files.map(patternOf)
      const fits = (document: string) => patterns.some((covers) => covers(document))
      return stepOf(override.rules, fits, `${source} /overrides/${index}/rules`, override.reason)
    }),
  ]
}

/** Reads levels by code only, so that the level of a rule can replace earlier levels of its cases. */
function stepOf(configured: ConfiguredLevels, fits: Covers, at: string, why: string | undefined): Step {
  const set: Record<string, SetLevel> = {}
  for (const { id, code } of allCases()) {
    const name = [code, id].find((known) => Object.hasOwn(configured, known))
    const value = name === undefined ? undefined : configured[name]
    if (name === undefined || value === undefined) continue
    const { level, reason = why } = typeof value === 'string' ? { level: value } : value
    set[code] = { level, from: at.startsWith('--') ? at : pointer(at, name), ...(reason !== undefined && { reason }) }
  }
  return { fits, set, levels: Object.fromEntries(Object.entries(set).map(([code, { level }]) => [code, level])) }
}

function allCases(): readonly (CaseMeta & { readonly id: string })[] {
  return rules.flatMap(({ meta: { id }, cases }) => cases.map(({ meta }) => ({ id, ...meta })))
}

/** One fault and its place in the configuration. */
interface ConfigFault {
  readonly pointer: string
  readonly message: string
}

const MEMBERS = ['$schema', 'extends', 'preset', 'infos', 'rules', 'overrides', 'ignores', 'origins']

const OVERRIDE_MEMBERS = ['files', 'rules', 'reason']

/** Returns the faults of a parsed configuration; empty for a `LintConfig` with these rules. */
export function configFaults(config: unknown, known: readonly string[]): readonly ConfigFault[] {
  if (!isObject(config)) return [{ pointer: '', message: 'the configuration must be an object' }]
  const faults = unknownMembers(config, MEMBERS, '')
  faults.push(...extendsFaults(own(config, 'extends')))
  const preset = own(config, 'preset')
  if (preset !== undefined && !isOneOf(preset, PRESETS)) faults.push({ pointer: '/preset', message: `it must be ${listed(PRESETS)}` })
  if (!['undefined', 'boolean'].includes(typeof own(config, 'infos')))
    faults.push({ pointer: '/infos', message: 'it must be true or false' })
  if (own(config, 'rules') !== undefined) faults.push(...levelFaults(config.rules, '/rules', known))
  const overrides = own(config, 'overrides') ?? []
  if (Array.isArray(overrides))
    faults.push(...overrides.flatMap((override, index) => overrideFaults(override, `/overrides/${index}`, known)))
  else faults.push({ pointer: '/overrides', message: 'it must be a list' })
  const ignores = own(config, 'ignores') ?? []
  if (!isPatterns(ignores)) faults.push({ pointer: '/ignores', message: `it must be a list of patterns as in .gitignore${LENGTH}` })
  return [...faults, ...originFaults(own(config, 'origins'))]
}

/** The beginning of the name of a preset in `extends`. */
export const PRESET_NAME = 'stac-auth:'

/** Only files that lie beside the configuration and presets can be extended: no package, no URL. */
function extendsFaults(value: unknown = []): readonly ConfigFault[] {
  const isKnown = (name: unknown) =>
    typeof name === 'string' && (/^\.\.?\/./.test(name) || PRESETS.some((preset) => name === `${PRESET_NAME}${preset}`))
  const message = `it must be a path that begins with ./ or ../, or ${listed(PRESETS.map((preset) => `${PRESET_NAME}${preset}`))}`
  if (!Array.isArray(value)) return isKnown(value) ? [] : [{ pointer: '/extends', message }]
  return value.flatMap((name, index) => (isKnown(name) ? [] : [{ pointer: `/extends/${index}`, message }]))
}

/** Longer than any path of a system. */
export const LONGEST_PATTERN = 4096
const LENGTH = `, each of at most ${LONGEST_PATTERN} characters`

function isPatterns(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string' && text !== '' && text.length <= LONGEST_PATTERN)
}

function overrideFaults(override: unknown, at: string, known: readonly string[]): readonly ConfigFault[] {
  if (!isObject(override)) return [{ pointer: at, message: 'an override must be an object' }]
  const faults = unknownMembers(override, OVERRIDE_MEMBERS, at)
  const { files, rules: levels, reason } = override
  if (!isPatterns(files) || files.length === 0)
    faults.push({ pointer: `${at}/files`, message: `it must be a list of globs or URLs${LENGTH}` })
  faults.push(...levelFaults(levels, `${at}/rules`, known))
  const off =
    isObject(levels) && Object.values(levels).some((value) => value === 'off' || (own(value, 'level') === 'off' && !own(value, 'reason')))
  if (reason !== undefined && typeof reason !== 'string') faults.push({ pointer: `${at}/reason`, message: 'it must be a string' })
  else if (off && !reason?.trim()) faults.push({ pointer: at, message: '"reason" is required when a rule is off' })
  return faults
}

function levelFaults(levels: unknown, at: string, known: readonly string[]): readonly ConfigFault[] {
  if (!isObject(levels)) return [{ pointer: at, message: 'it must map rule ids or codes to levels' }]
  return Object.entries(levels).flatMap(([id, level]): ConfigFault[] => {
    if (!known.includes(id)) return [{ pointer: pointer(at, id), message: `unknown rule "${id}"${meant(id, known)}` }]
    if (!isObject(level)) return isOneOf(level, LEVELS) ? [] : [{ pointer: pointer(at, id), message: `it must be ${listed(LEVELS)}` }]
    return levelFault(level, pointer(at, id))
  })
}

/** Returns the faults of a level with a reason. */
function levelFault(value: object, at: string): ConfigFault[] {
  const faults = unknownMembers(value, ['level', 'reason'], at)
  const [level, reason] = [own(value, 'level'), own(value, 'reason')]
  if (!isOneOf(level, LEVELS)) faults.push({ pointer: `${at}/level`, message: `it must be ${listed(LEVELS)}` })
  if (reason !== undefined && !(typeof reason === 'string' && reason.trim()))
    faults.push({ pointer: `${at}/reason`, message: 'it must be a text' })
  return faults
}

function originFaults(origins: unknown = []): readonly ConfigFault[] {
  if (!Array.isArray(origins)) return [{ pointer: '/origins', message: 'it must be a list' }]
  return origins.flatMap((origin, index) =>
    isOrigin(origin) ? [] : [{ pointer: `/origins/${index}`, message: 'it must be an origin, such as https://data.example' }],
  )
}

function isOrigin(text: unknown): boolean {
  if (typeof text !== 'string' || !canParseUrl(text)) return false
  const { protocol, origin } = new URL(text)
  return /^https?:$/.test(protocol) && (text === origin || text === `${origin}/`)
}

function unknownMembers(object: object, known: readonly string[], at: string): ConfigFault[] {
  return Object.keys(object)
    .filter((name) => !known.includes(name))
    .map((name) => ({ pointer: pointer(at, name), message: `"${name}" is unknown${meant(name, known)}` }))
}

function meant(word: string, known: readonly string[]): string {
  const near = nearMiss(word, known)
  return near === undefined ? '' : ` (did you mean "${near}"?)`
}

function isOneOf(value: unknown, words: readonly string[]): boolean {
  return typeof value === 'string' && words.includes(value)
}

function listed(words: readonly string[]): string {
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

/** Levels by the id of a rule or the code of a case, which replace those of the preset. */
export type Levels = Readonly<Record<string, Level>>

/** Names that a configuration may use: the ids of the rules, and the codes of their cases. */
export const RULE_NAMES: readonly string[] = [
  ...new Set(rules.flatMap(({ meta, cases }) => [meta.id, ...cases.map(({ meta: { code } }) => code)])),
]

/** Returns the level of a case: its own, else that of its rule, else that of the preset. */
export function levelOf({ meta: { id } }: Rule, { code, severity }: CaseMeta, preset: Preset, levels: Levels): Level {
  return named(levels, code) ?? named(levels, id) ?? severity[preset]
}

function named(levels: Levels, name: string): Level | undefined {
  return Object.hasOwn(levels, name) ? levels[name] : undefined
}

/** Returns the level of the case with this code, or `off`. */
export function levelOfCode(code: string, preset: Preset, levels: Levels): Level {
  const found = caseOf(code)
  return found ? levelOf(found[0], found[1].meta, preset, levels) : 'off'
}

/** Returns the rule and the case with this code. */
export function caseOf(code: string): readonly [Rule, RuleCase] | undefined {
  for (const rule of rules) {
    for (const one of rule.cases) if (one.meta.code === code) return [rule, one]
  }
  return undefined
}

/** Levels that turn off the cases with the level `info` in the preset `recommended`, except rules that send requests. */
const NO_INFOS: Levels = Object.fromEntries(
  rules.flatMap(({ meta: { section }, cases }) =>
    cases.flatMap(({ meta: { code, severity } }): [string, Level][] =>
      severity.recommended === 'info' && section !== 'online' ? [[code, 'off']] : [],
    ),
  ),
)
