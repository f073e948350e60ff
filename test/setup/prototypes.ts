/** After every test: the prototypes that all code shares are as they were. */
import { afterEach, expect } from 'vitest'

const SHARED = { Object, Array, Function, String, Map, Promise, RegExp, URL, Headers, Request, Response }

const ownNames = () => Object.entries(SHARED).map(([name, { prototype }]) => [name, Reflect.ownKeys(prototype).map(String)])
const before = JSON.stringify(ownNames())

afterEach(() => {
  expect(JSON.stringify(ownNames()), 'a test changed a prototype that all code shares').toBe(before)
})
