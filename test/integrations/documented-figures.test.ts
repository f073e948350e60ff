/** Figures in texts come from something that measures them: `npm run generate` for sizes, `npm run nightly -- figures` for speeds. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ADAPTER_BUDGETS, BUDGETS, BUNDLE_BUDGET } from '../../scripts/sizes.ts'
import { root } from '../architecture/files.ts'

const textOf = (path: string) => readFileSync(root + path, 'utf8')
const { documented } = (await import(new URL('../../bench/documented/figures.mjs', import.meta.url).href)) as {
  readonly documented: (page?: string) => readonly { readonly what: string; readonly name?: string; readonly figure: number }[]
}
describe('a figure of docs/speed.md', () => {
  const rows = documented()

  it('has a benchmark, which measures it again each night, and a row without one is noticed', () => {
    const [, ...lines] =
      textOf('docs/speed.md')
        .split('| program |')[0]
        ?.match(/^\| .* \|$/gm) ?? []
    expect(rows).toHaveLength(lines.length - 1)
    expect(rows.filter(({ name, figure }) => !name || !(figure > 0))).toEqual([])
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length)
    expect(documented('| fly to the moon | a rocket | 3 × | |\n')).toEqual([
      { what: 'fly to the moon, a rocket', name: undefined, figure: 3 },
    ])
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

  it('of an adapter is the bound that test/package holds', () => {
    const page = textOf('docs/adapters.md')
    for (const [name, bound] of Object.entries(ADAPTER_BUDGETS))
      expect(page).toMatch(new RegExp(`^\\| \`${name}\` .* ${bound / 1000} kB \\|$`, 'm'))
  })
})

it('the README says in how many ways the demo is protected', () => {
  const [, count] = /a catalog protected in (\d+) ways/.exec(textOf('README.md')) ?? []
  expect(textOf('test/demo/demo.test.ts')).toContain(`lint +${count} documents`)
})
