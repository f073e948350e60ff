import { expect, it } from 'vitest'
import { defineStacAuth } from '../../src/element/index.ts'

it('pages that are rendered on a server may define the element there', () => {
  expect(Reflect.has(globalThis, 'customElements')).toBe(false)
  expect(() => defineStacAuth()).not.toThrow()
})
