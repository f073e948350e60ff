/** Figures in texts come from something that measures them: tests for sizes, `node bench/index.mjs --write` for speeds. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ADAPTER_BUDGETS, BUDGETS, BUNDLE_BUDGET } from '../../scripts/sizes.ts'
import { projectFiles, root } from '../architecture/files.ts'

const textOf = (path: string) => readFileSync(root + path, 'utf8')
/** What people wrote: neither generated nor in a block of code. */
const proseOf = (path: string) => textOf(path).replace(/<!-- generated[\s\S]*?<!-- end -->|^```[\s\S]*?^```/gm, '')
interface Result {
  readonly ratio: number
  readonly better: 'lower' | 'higher'
  readonly target?: number
  readonly steady?: boolean
  readonly exact?: boolean
}

const { verdict } = (await import(new URL('../../bench/documented/verdict.mjs', import.meta.url).href)) as {
  readonly verdict: (mode: string | undefined, result: Result, figure?: number) => boolean | undefined
}

describe('the result of a benchmark', () => {
  const time = { better: 'lower', target: 2, steady: true } as const
  const speed = { better: 'higher', target: 2, steady: true } as const

  it('is compared with its target, unless it has none', () => {
    expect([1.9, 2.1].map((ratio) => verdict(undefined, { ...time, ratio }))).toEqual([true, false])
    expect([1.9, 2.1].map((ratio) => verdict('--write', { ...speed, ratio }))).toEqual([false, true])
    expect(verdict(undefined, { better: 'higher', ratio: 3 })).toBeUndefined()
  })

  it('is off each night when it differs from its figure by more than 30 %, or has none', () => {
    expect([0.69, 0.71, 1.29, 1.31].map((ratio) => verdict('--documented', { ...time, ratio }, 1))).toEqual([false, true, true, false])
    expect(verdict('--documented', { ...time, ratio: 1 })).toBe(false)
  })

  it('is off in the smallest size when it is worse than its figure by more than a third, and steady', () => {
    expect([0.5, 1.3, 1.4].map((ratio) => verdict('--smallest', { ...time, ratio }, 1))).toEqual([true, true, false])
    expect([5, 0.8, 0.7].map((ratio) => verdict('--smallest', { ...speed, ratio }, 1))).toEqual([true, true, false])
    expect(verdict('--smallest', { better: 'lower', target: 2, ratio: 9 }, 1)).toBeUndefined()
  })

  it('is that of each run when it is a count', () => {
    for (const mode of [undefined, '--smallest', '--documented'])
      expect([24, 25].map((ratio) => verdict(mode, { better: 'higher', exact: true, ratio }, 24))).toEqual([true, false])
  })
})

describe('a size in a text', () => {
  const budgetOf = (entry: string) => (BUDGETS.find((one) => one.entry === entry)?.budget ?? 0) / 1000

  it.each([
    ['README.md', /adds under ([\d.]+) kB gzip/, budgetOf('dist/index.js')],
    ['docs/browser.md', /\(at most ([\d.]+) kB gzip\)/, BUNDLE_BUDGET / 1000],
    ['docs/providers.md', /loads at most ([\d.]+) kB/, budgetOf('dist/providers/copernicus.js')],
  ])('of %s is the bound that test/package holds', (path, figure, bound) => {
    expect(Number(figure.exec(textOf(path))?.[1])).toBe(bound)
  })

  it('is a bound that test/package holds wherever a person wrote it', () => {
    const bounds = [...BUDGETS.map(({ budget }) => budget), BUNDLE_BUDGET].map((bytes) => `${bytes / 1000} kB`)
    const pages = projectFiles().filter(({ path }) => /^(?:README|(?:docs|examples)\/.*)\.md$/.test(path))
    const sizes = pages.flatMap(({ path }) => (proseOf(path).match(/[\d.]+ ?kB\b/g) ?? []).map((size) => [path, size] as const))
    expect(sizes.length).toBeGreaterThan(2)
    expect(sizes.filter(([, size]) => !bounds.includes(size))).toEqual([])
  })

  it('of an adapter is the bound that test/package holds', () => {
    const page = textOf('docs/adapters.md')
    for (const [name, bound] of Object.entries(ADAPTER_BUDGETS))
      expect(page).toMatch(new RegExp(`^\\| \`${name}\` .* ${bound / 1000} kB \\|$`, 'm'))
  })
})

it.each([
  ['docs/sizes.md', ''],
  ['docs/scale.md', ''],
  ['docs/speed.md', '## What is missed, and why'],
])('%s has measured figures in its generated tables only', (path, from) => {
  const [, prose = ''] = proseOf(path).split(from || /^/)
  expect(prose.match(/.*(?:\d|\b(?:half|third|quarter|twice|double|times as)\b).*/g)).toBeNull()
})

it('the README says in how many ways the demo is protected', () => {
  const [, count] = /a catalog protected in (\d+) ways/.exec(textOf('README.md')) ?? []
  expect(textOf('test/demo/demo.test.ts')).toContain(`lint +${count} documents`)
})

it('the page of the conformance cases says how many there are, with and without a fault', () => {
  const [authorize, lint] = ['authorize', 'lint'].map((name) => JSON.parse(textOf(`fixtures/conformance/${name}.json`)).cases.length)
  const count = authorize + 2 * lint
  expect(textOf('fixtures/conformance/README.md')).toContain(`\n${count} of ${count} passed\n`)
})
