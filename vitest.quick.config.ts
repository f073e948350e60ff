import { defineConfig } from 'vitest/config'
import { TIMES } from './test/setup/times.ts'
import { EACH_FILE, ON_NODE, REPLACING } from './vitest.config.ts'

/** The tests of the inner loop: what runs in one process and needs no `dist`. `npm test` runs everything. */
export default defineConfig({
  ...ON_NODE,
  test: {
    name: 'quick',
    include: ['test/**/*.test.ts'],
    exclude: ['test/peers/**', 'test/package/**', ...REPLACING, ...Object.keys(TIMES)],
    isolate: false,
    maxWorkers: '100%',
    reporters: ['dot'],
    ...EACH_FILE,
  },
})
