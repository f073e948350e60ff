/** The levels of the rules, and the configuration that sets them. It names no credentials and allows no URLs. */

import { isObject, own, pointer } from '../stac/document.ts'
import { canParseUrl } from '../text/can-parse-url.ts'
import { nearMiss } from '../text/suggest.ts'
import { LEVELS, type Level, PRESETS, type Preset } from './problem.ts'
import type { CaseMeta, Rule, RuleCase } from './rule.ts'
import { rules } from './rules/index.ts'

/** A configuration as `schemas/lint-config.json` describes it. */
export interface LintConfig {
  readonly preset?: Preset
  /** Also reports findings that have the level `info` in the preset `recommended`. */
  readonly infos?: boolean
  readonly rules?: Levels
  readonly overrides?: readonly Override[]
  /** Further origins that a crawl may visit. This allows no credential for them: only the user's credential file does. */
  readonly origins?: readonly string[]
}

/** Levels for some documents; later overrides go before earlier ones. */
interface Override {
  /** Globs relative to the folder of the configuration, or prefixes of URLs. */
  readonly files: readonly string[]
  readonly rules: Levels
  /** Why; required when a rule is switched off. */
  readonly reason?: string
}

/** True for a document that a pattern of an override covers. */
export type Covers = (document: string) => boolean

/** The levels of each document of a run. */
export interface LevelTable {
  readonly preset: Preset
  /**
   * Returns the same object for documents with the same levels, so that the linter can cache by it. Fixes use findings of the level
   * `info` too: they pass `withInfos`.
   */
  levelsFor(document: string, withInfos?: boolean): Levels
}

/**
 * Returns the table of levels: matching overrides replace levels of the configuration, and `given` replaces both.
 * `patternOf` parses a glob or the prefix of a URL.
 */
export function levelTable(
  { preset = 'recommended', infos = false, rules: levels = {}, overrides = [] }: LintConfig,
  given: Levels,
  patternOf: (pattern: string) => Covers,
): LevelTable {
  const quiet = preset === 'recommended' ? NO_INFOS : {}
  const base = byCode(levels)
  const last = byCode(given)
  const patterns = overrides.map((override) => ({ fits: override.files.map(patternOf), levels: byCode(override.rules) }))
  const tables = new Map<string, Levels>()
  return {
    preset,
    levelsFor(document, withInfos = infos) {
      const fitting = patterns.filter(({ fits }) => fits.some((covers) => covers(document)))
      const key = fitting.map((pattern) => patterns.indexOf(pattern)).join() + (withInfos ? '' : ' quiet')
      const known = tables.get(key) ?? Object.assign({}, withInfos ? {} : quiet, base, ...fitting.map((pattern) => pattern.levels), last)
      tables.set(key, known)
      return known
    },
  }
}

/** One fault and its place in the configuration. */
interface ConfigFault {
  readonly pointer: string
  readonly message: string
}

const MEMBERS = ['$schema', 'preset', 'infos', 'rules', 'overrides', 'origins']

const OVERRIDE_MEMBERS = ['files', 'rules', 'reason']

/** Returns the faults of a parsed configuration; empty for a `LintConfig` with these rules. */
export function configFaults(config: unknown, known: readonly string[]): readonly ConfigFault[] {
  if (!isObject(config)) return [{ pointer: '', message: 'the configuration must be an object' }]
  const faults = unknownMembers(config, MEMBERS, '')
  const preset = own(config, 'preset')
  if (preset !== undefined && !isOneOf(preset, PRESETS)) faults.push({ pointer: '/preset', message: `it must be ${listed(PRESETS)}` })
  if (!['undefined', 'boolean'].includes(typeof own(config, 'infos')))
    faults.push({ pointer: '/infos', message: 'it must be true or false' })
  if (own(config, 'rules') !== undefined) faults.push(...levelFaults(config.rules, '/rules', known))
  const overrides = own(config, 'overrides') ?? []
  if (Array.isArray(overrides))
    faults.push(...overrides.flatMap((override, index) => overrideFaults(override, `/overrides/${index}`, known)))
  else faults.push({ pointer: '/overrides', message: 'it must be a list' })
  return [...faults, ...originFaults(own(config, 'origins'))]
}

function overrideFaults(override: unknown, at: string, known: readonly string[]): readonly ConfigFault[] {
  if (!isObject(override)) return [{ pointer: at, message: 'an override must be an object' }]
  const faults = unknownMembers(override, OVERRIDE_MEMBERS, at)
  const { files, rules: levels, reason } = override
  const isNamed = Array.isArray(files) && files.length > 0 && files.every((file) => typeof file === 'string' && file !== '')
  if (!isNamed) faults.push({ pointer: `${at}/files`, message: 'it must be a list of globs or URLs' })
  faults.push(...levelFaults(levels, `${at}/rules`, known))
  const off = isObject(levels) && Object.values(levels).includes('off')
  if (reason !== undefined && typeof reason !== 'string') faults.push({ pointer: `${at}/reason`, message: 'it must be a string' })
  else if (off && !reason?.trim()) faults.push({ pointer: at, message: '"reason" is required when a rule is off' })
  return faults
}

function levelFaults(levels: unknown, at: string, known: readonly string[]): readonly ConfigFault[] {
  if (!isObject(levels)) return [{ pointer: at, message: 'it must map rule ids or codes to levels' }]
  return Object.entries(levels).flatMap(([id, level]): ConfigFault[] => {
    if (!known.includes(id)) return [{ pointer: pointer(at, id), message: `unknown rule "${id}"${meant(id, known)}` }]
    return isOneOf(level, LEVELS) ? [] : [{ pointer: pointer(at, id), message: `it must be ${listed(LEVELS)}` }]
  })
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

/** Returns the same levels by code only, so that the level of a rule can replace earlier levels of its cases. */
function byCode(levels: Levels): Levels {
  const given = rules.flatMap((rule) =>
    rule.cases.flatMap((one): [string, Level][] => {
      const level = named(levels, one.meta.code) ?? named(levels, rule.meta.id)
      return level ? [[one.meta.code, level]] : []
    }),
  )
  return Object.fromEntries(given)
}

/** Levels that turn off the cases with the level `info` in the preset `recommended`, except rules that send requests. */
const NO_INFOS: Levels = Object.fromEntries(
  rules.flatMap(({ meta: { section }, cases }) =>
    cases.flatMap(({ meta: { code, severity } }): [string, Level][] =>
      severity.recommended === 'info' && section !== 'online' ? [[code, 'off']] : [],
    ),
  ),
)
