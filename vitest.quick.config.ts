import { readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { EACH_FILE, ON_NODE, REPLACING } from './vitest.config.ts'

/** Test files that took half a second or more. `npm run test:times` writes the list; a new file is quick until it is measured. */
const slow: string[] = JSON.parse(readFileSync(new URL('test/slow.json', import.meta.url), 'utf8'))

/** The tests of the inner loop: what runs in one process and needs no `dist`. `npm test` runs everything. */
export default defineConfig({
  ...ON_NODE,
  test: {
    name: 'quick',
    include: ['test/**/*.test.ts'],
    exclude: ['test/peers/**', 'test/package/**', ...REPLACING, ...slow],
    isolate: false,
    maxWorkers: '100%',
    reporters: ['dot'],
    ...EACH_FILE,
  },
})
