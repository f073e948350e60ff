/** Which cases of the rules are on, and how bad they are. */
import type { Level, Preset } from './problem.ts'
import type { Rule, RuleCase } from './rule.ts'
import { rules } from './rules/index.ts'

/** Levels by the id of a rule or the code of a case, which replace those of the preset. */
export type Levels = Readonly<Record<string, Level>>

/** Names that a configuration may use: the ids of the rules, and the codes of their cases. */
export const RULE_NAMES: readonly string[] = [
  ...new Set(rules.flatMap(({ meta, cases }) => [meta.id, ...cases.map(({ meta: { code } }) => code)])),
]

/** The level of a case: its own, else that of its rule, else that of the preset. */
export function levelOf({ meta: { id } }: Rule, { meta: { code, severity } }: RuleCase, preset: Preset, levels: Levels): Level {
  return named(levels, code) ?? named(levels, id) ?? severity[preset]
}

function named(levels: Levels, name: string): Level | undefined {
  return Object.hasOwn(levels, name) ? levels[name] : undefined
}

/** The level of the case with this code; `off` when there is none. */
export function levelOfCode(code: string, preset: Preset, levels: Levels): Level {
  const found = caseOf(code)
  return found ? levelOf(...found, preset, levels) : 'off'
}

/** The case with this code, behind its rule. */
export function caseOf(code: string): readonly [Rule, RuleCase] | undefined {
  for (const rule of rules) {
    for (const one of rule.cases) if (one.meta.code === code) return [rule, one]
  }
  return undefined
}

/** The same levels by code alone, so that those of a rule can be laid over those of a case that were given before. */
export function byCode(levels: Levels): Levels {
  const given = rules.flatMap((rule) =>
    rule.cases.flatMap((one): [string, Level][] => {
      const level = named(levels, one.meta.code) ?? named(levels, rule.meta.id)
      return level ? [[one.meta.code, level]] : []
    }),
  )
  return Object.fromEntries(given)
}

/** The levels that leave out what the preset `recommended` only has as information, unless servers were to be asked for it. */
export const NO_INFOS: Levels = Object.fromEntries(
  rules.flatMap(({ meta: { section }, cases }) =>
    cases.flatMap(({ meta: { code, severity } }): [string, Level][] =>
      severity.recommended === 'info' && section !== 'online' ? [[code, 'off']] : [],
    ),
  ),
)
