/** Runs the hooks of helpers; a setup file, so that it is evaluated for each test file. */
import { afterAll, afterEach } from 'vitest'
import { hooks } from './hooks.ts'

afterEach(async () => {
  for (const hook of hooks.test) await hook()
})

afterAll(async () => {
  for (const hook of hooks.file) await hook()
})
