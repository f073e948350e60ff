import { transpile } from 'typescript'
import { describe, expect, it } from 'vitest'
import { explanationOf } from '../../scripts/mutation/explained.ts'
import { mutated } from '../../scripts/mutation/mutants.ts'

const SOURCE = `
const NAME = /^[a-z]+$/
export function allows(names: readonly string[], limit = 3): boolean {
  if (names.length > limit) throw new Error('too many names')
  return names.every((name) => NAME.test(name)) && names[0]?.startsWith('a') === true
}
`

type Run = (isActive: (id: number) => boolean, exports: object) => void
const compiled = (code: string) => new Function('$mutant', 'exports', transpile(code, { target: 99, module: 1 })) as Run

/** What the function returns for those names while that mutant is active. */
function outcome(run: Run, active: number, names: readonly string[]): unknown {
  const exports: { allows?: (names: readonly string[]) => unknown } = {}
  run((id: number) => id === active, exports)
  try {
    return exports.allows?.(names)
  } catch (error) {
    return (error as Error).name
  }
}

const CASES = [['a'], ['a', 'b', 'c'], ['a', 'b', 'c', 'd'], ['b', 'xa'], ['A'], ['a1'], ['1a'], ['a', '1'], ['a', '1a'], ['ba'], []]

describe('a mutated source', () => {
  const { mutants, code } = mutated(SOURCE)
  const run = compiled(code)
  const outcomes = (active: number) => CASES.map((names) => outcome(run, active, names))

  it('does what the source does while no mutant is active', () => {
    expect(outcomes(0)).toEqual(CASES.map((names) => outcome(compiled(SOURCE), 0, names)))
  })

  it('does something else for each mutant', () => {
    const same = mutants.filter(({ id }) => JSON.stringify(outcomes(id)) === JSON.stringify(outcomes(0)))
    expect(same.map(({ code: original, becomes }) => `${original} → ${becomes}`)).toEqual([])
  })

  it('names the changes that are made while the module is evaluated', () => {
    expect(new Set(mutants.filter(({ isStatic }) => isStatic).map(({ within }) => within))).toEqual(new Set(['NAME']))
  })

  it('has every kind of change that the source allows', () => {
    expect([...new Set(mutants.map(({ operator }) => operator))].sort()).toEqual(
      [
        ...['anchor', 'boolean', 'comparison', 'condition false', 'condition true', 'empty return', 'logic', 'method', 'number'],
        ...['optional link', 'removed statement', 'text'],
      ].sort(),
    )
  })

  it('names the function and the line of each mutant', () => {
    expect(mutants.find(({ operator }) => operator === 'removed statement')).toMatchObject({
      within: 'allows',
      line: 4,
      code: "throw new Error('too many names')",
      becomes: '',
    })
  })

  it('stays as it is where there is nothing to change', () => {
    const types = "import { a } from './a.ts'\n\n/** A type. */\nexport type B = 'x' | 1\nexport { a }\n"
    expect(mutated(types)).toEqual({ mutants: [], code: types })
  })

  it('evaluates the parts of a statement on lines without semicolons one by one', () => {
    const { code: changed } = mutated('export function allows(list) {\n  const first = list\n  list[0] === 1\n  return first\n}\n')
    expect(outcome(compiled(changed), 0, ['a'])).toEqual(['a'])
  })
})

describe('an explanation', () => {
  const mutant = { operator: 'number', within: 'allows', line: 3, code: '3', becomes: '3 + 1' }
  const entry = { within: 'allows', code: '3', becomes: '3 + 1', reason: 'nobody has so many names' }

  it.each([
    ['that change', entry, entry.reason],
    ['every change of that code', { ...entry, becomes: undefined }, entry.reason],
    ['no other change of that code', { ...entry, becomes: '3 - 1' }, undefined],
    ['nothing in another function', { ...entry, within: 'other' }, undefined],
  ])('is for %s', (_, { becomes, ...rest }, reason) => {
    expect(explanationOf({ 'a.ts': [{ ...rest, ...(becomes && { becomes }) }] }, 'a.ts', mutant)).toBe(reason)
    expect(explanationOf({ 'b.ts': [entry] }, 'a.ts', mutant)).toBeUndefined()
  })
})
