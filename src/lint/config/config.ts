/** The configuration of the linter: which rules are on, and where they are not. It names no credentials and grants nothing. */

import { byCode, type Levels, NO_INFOS } from '../levels.ts'
import type { Preset } from '../problem.ts'

/** A configuration as `schemas/lint-config.json` describes it. */
export interface LintConfig {
  readonly preset?: Preset
  /** Also reports what the preset `recommended` only has as information. */
  readonly infos?: boolean
  readonly rules?: Levels
  readonly overrides?: readonly Override[]
  /** Further origins that a crawl may visit. Never a grant: credentials go where their owner's own file says. */
  readonly origins?: readonly string[]
}

/** Levels for some documents; later overrides go before earlier ones. */
export interface Override {
  /** Globs below the folder of the configuration, or beginnings of addresses. */
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
   * The same object for documents with the same levels: the linter keeps what it has learned for as long. Fixes are made of what only
   * informs too, so they ask for levels with it.
   */
  levelsFor(document: string, withInfos?: boolean): Levels
}

/**
 * Lays the rules of the overrides that fit over those of the configuration, and `given` over all.
 * `patternOf` reads a glob or the beginning of an address.
 */
export function levelTable(
  { preset = 'recommended', infos = false, rules = {}, overrides = [] }: LintConfig,
  given: Levels,
  patternOf: (pattern: string) => Covers,
): LevelTable {
  const quiet = preset === 'recommended' ? NO_INFOS : {}
  const base = byCode(rules)
  const last = byCode(given)
  const patterns = overrides.map(({ files, rules: levels }) => ({ fits: files.map(patternOf), levels: byCode(levels) }))
  const tables = new Map<string, Levels>()
  return {
    preset,
    levelsFor(document, withInfos = infos) {
      const fitting = patterns.filter(({ fits }) => fits.some((covers) => covers(document)))
      const key = fitting.map((pattern) => patterns.indexOf(pattern)).join() + (withInfos ? '' : ' quiet')
      const known = tables.get(key) ?? Object.assign({}, withInfos ? {} : quiet, base, ...fitting.map(({ levels }) => levels), last)
      tables.set(key, known)
      return known
    },
  }
}
