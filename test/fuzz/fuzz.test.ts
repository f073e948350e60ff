/**
 * Generated input for everything that reads what strangers write: 5,000 cases, the same ones in every run. `npm run nightly -- fuzz` runs
 * a million others; `FUZZ_SEED` and `FUZZ_CASES` repeat a run. What holds around every test (prototypes, connections, files) holds here.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { documentSubjects } from './document-subjects.ts'
import { requestSubjects } from './request-subjects.ts'
import { subject } from './run-cases.ts'
import { urlSubjects } from './url-subjects.ts'

const CASES = Number(process.env.FUZZ_CASES ?? 5_000)
const SEED = Number(process.env.FUZZ_SEED ?? 20_261_123)
/** A part of a subject, so that no test takes long. */
const PART = 20_000

const subjects = [...urlSubjects, ...documentSubjects, ...requestSubjects]

const parts = subjects.flatMap(({ name, share, run }) => {
  const cases = Math.ceil(CASES * share)
  const count = Math.ceil(cases / PART)
  return Array.from({ length: count }, (_, part) => ({ name, run, cases: Math.ceil(cases / count), seed: SEED + part }))
})

describe('any', () => {
  it.each(parts)(
    '$name ($cases cases, seed $seed)',
    async ({ run, cases, seed }) => {
      expect(await run(cases, seed)).toBeUndefined()
    },
    1_200_000,
  )
})

it(`all subjects together have ${CASES} cases`, () => {
  expect(subjects.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1)
  // Also where the variable is no number, with which no case would run.
  expect(parts.reduce((sum, { cases }) => sum + cases, 0)).toBeGreaterThanOrEqual(CASES)
})

describe('the runner of generated cases', () => {
  const number = fc.nat({ max: 1000 })

  it.each([
    ['a problem', (value: number) => (value > 500 ? 'large' : undefined), '501'],
    [
      'a foreign error',
      (value: number) => {
        if (value > 500) throw new TypeError('large')
        return undefined
      },
      'TypeError: large',
    ],
    [
      'a case that takes long',
      (value: number) => {
        for (const end = process.cpuUsage().user + (value > 990 ? 110_000 : 0); process.cpuUsage().user < end; );
        return undefined
      },
      'took ',
    ],
  ])('reports %s with its seed', async (_what, check, expected) => {
    const problem = await subject('number', 1, number, check).run(2000, 1)
    expect(problem).toContain(expected)
    expect(problem).toContain('seed 1')
  })
})
