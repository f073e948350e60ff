import { expect, it } from 'vitest'
import { styles } from '../../src/element/styles.ts'

it('the element declares no variable that a page may have on the element itself', () => {
  const declared = [...styles.matchAll(/(--[\w-]+)\s*:/g)].map(([, name = '']) => name)
  expect(declared.length).toBeGreaterThan(10)
  expect(declared.filter((name) => !name.startsWith('--_'))).toEqual([])
})
