import { describe, expect, it } from 'vitest'
import { Findings } from '../../src/cli/lint/lint-run.ts'
import type { Problem, Severity } from '../../src/lint/index.ts'

const finding = (document: string, severity: Severity, message = 'm'): Problem => ({
  rule: 'r',
  code: 'r',
  severity,
  message,
  document,
  pointer: '',
})
const ROOM = 4000
const namesOf = ({ problems }: { readonly problems: readonly Problem[] }) => problems.map(({ document }) => document)

function foundIn(findings: readonly Problem[], room: number, order?: (one: Problem, other: Problem) => number) {
  const kept = new Findings(room, order)
  for (const one of findings) kept.add([one])
  return kept.found()
}

describe('findings of a run', () => {
  const mixed = Array.from({ length: 300 }, (_, index) =>
    finding(`${index}`.padStart(3, '0'), index % 100 === 50 ? 'error' : index % 100 === 51 ? 'warn' : 'info'),
  )

  it('findings of a run are all kept in their order while there is room', () => {
    expect(foundIn(mixed, Number.POSITIVE_INFINITY)).toEqual({
      problems: mixed,
      totals: { errors: 3, warnings: 3, infos: 294 },
      unlisted: 0,
    })
  })

  it('findings of a run are cut from the end, infos first, and counted', () => {
    const { problems, totals, unlisted } = foundIn(mixed, ROOM)
    expect(totals).toEqual({ errors: 3, warnings: 3, infos: 294 })
    expect(unlisted).toBe(300 - problems.length)
    expect(problems.filter(({ severity }) => severity !== 'info').map(({ document }) => document)).toEqual([
      '050',
      '051',
      '150',
      '151',
      '250',
      '251',
    ])
    const infos = problems.filter(({ severity }) => severity === 'info')
    expect(infos).toEqual(mixed.slice(0, infos.length))
    expect(infos.length).toBeGreaterThan(0)
  })

  it('findings of a run are the same in whatever order documents come, when they are sorted', () => {
    const order = (one: Problem, other: Problem) => (one.document ?? '').localeCompare(other.document ?? '')
    const sorted = foundIn(mixed, ROOM, order)
    const shuffled = mixed.map((_, index) => mixed[(index * 7) % mixed.length] as Problem)
    expect(foundIn(shuffled, ROOM, order)).toEqual(sorted)
    expect(namesOf(sorted)).toEqual(namesOf(sorted).toSorted())
  })

  it('findings of a run of any length are only counted where there is no room for one', () => {
    expect(foundIn([finding('a', 'error', 'm'.repeat(2 * ROOM))], ROOM)).toMatchObject({ problems: [], unlisted: 1, totals: { errors: 1 } })
    expect(foundIn(mixed, 0)).toMatchObject({ problems: [], unlisted: 300 })
  })
})
