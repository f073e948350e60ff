import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { retriesReporter, retry } from './test/setup/retries.ts'
import { LongestFirst, timesReporter } from './test/setup/times.ts'

/**
 * Files of `test/peers` that `.ci/run` leaves to the nightly run, because they take longest, each with the nearest tests that run on each
 * change. `npm run test:peers` and `npm run nightly -- peers` run all.
 */
export const NIGHTLY: Readonly<Record<string, readonly string[]>> = {
  'adapter-leaks': ['test/leaks/matrix.test.ts', 'test/peers/service-worker.test.ts'],
  'apache-negotiate': ['test/node/negotiate-wire.test.ts'],
  'browser-login': ['test/peers/webkit.test.ts', 'test/peers/browser-login-hostile-chromium.test.ts', 'test/peers/live-tabs.test.ts'],
  'browser-page-access-chromium': ['test/peers/browser-page-hostile-chromium.test.ts', 'test/peers/element-chromium.test.ts'],
  'browser-page-browsers': ['test/peers/browser-page-hostile-chromium.test.ts'],
  'browser-page-chromium': ['test/peers/browser-page-hostile-chromium.test.ts'],
  'browser-page-map-chromium': ['test/peers/browser-page-hostile-chromium.test.ts', 'test/peers/maps-chromium.test.ts'],
  'browser-page-phone-chromium': ['test/peers/browser-page-hostile-chromium.test.ts'],
  'browser-page-search-chromium': ['test/peers/browser-page-hostile-chromium.test.ts'],
  'browser-page-storageless-chromium': ['test/peers/browser-page-hostile-chromium.test.ts'],
  bundlers: ['test/package/browser.test.ts', 'test/package/vite.test.ts'],
  completion: ['test/cli/completion.test.ts'],
  curl: ['test/outputs/programs.test.ts', 'test/peers/documentation-commands.test.ts'],
  'documentation-pictures': ['test/peers/documentation-outputs.test.ts'],
  'documentation-site-chromium': ['test/integrations/site.test.ts'],
  'element-browsers': ['test/peers/element-chromium.test.ts'],
  'from-checkout': ['test/integrations/action.test.ts'],
  gdal: ['test/outputs/gdal.test.ts', 'test/peers/gateway-clients.test.ts'],
  'gateway-gdal': ['test/peers/gateway-clients.test.ts', 'test/outputs/gdal.test.ts'],
  'gateway-long-read': ['test/peers/gateway-clients.test.ts'],
  outputs: ['test/outputs/programs.test.ts', 'test/peers/documentation-commands.test.ts'],
  pipelines: ['test/peers/documentation-commands.test.ts'],
  'providers/django-oauth-toolkit': ['test/peers/providers/better-auth.test.ts'],
  'providers/glewlwyd': ['test/peers/providers/better-auth.test.ts'],
  'providers/workers-oauth-provider': ['test/peers/providers/better-auth.test.ts'],
  'redis-bucket': ['test/peers/redis-jobs.test.ts', 'test/peers/swift-bucket.test.ts'],
  'redis-downloads': ['test/peers/redis-jobs.test.ts', 'test/peers/redis-slots.test.ts'],
  'redis-tokens': ['test/node/token-processes.test.ts', 'test/node/token-meanwhile.test.ts'],
  'redis-queue': ['test/peers/redis-jobs.test.ts', 'test/peers/redis-slots.test.ts'],
  runtimes: ['test/package/web-only.test.ts'],
  'stac-browser-chromium': ['test/adapters/stac-browser.test.ts'],
  'swift-assets': ['test/peers/swift.test.ts'],
  'swift-outputs': ['test/peers/swift.test.ts', 'test/outputs/programs.test.ts'],
}

const pathOf = (name: string) => `test/peers/${name}.test.ts`
const nightly = Object.keys(NIGHTLY).map(pathOf)

/** Tests against servers that we did not write. Each file starts processes of its own, which wait some of the time: several files run at once. */
export default defineConfig(({ mode }) => ({
  resolve: { alias: { '#platform': fileURLToPath(new URL('src/platform/node.ts', import.meta.url)) } },
  test: {
    maxWorkers: 2 * availableParallelism(),
    execArgv: ['--max-semi-space-size=64'],
    setupFiles: ['test/setup/run-hooks.ts'],
    reporters: ['default', retriesReporter(), ...(mode === 'times' ? [timesReporter] : [])],
    sequence: { sequencer: LongestFirst },
    // To end what hangs: on a busy machine each process may take ten seconds to start.
    testTimeout: 90_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 15_000 } },
    retry,
    projects: [
      { extends: true, test: { name: 'peers', include: ['test/peers/**/*.test.ts'], exclude: nightly } },
      { extends: true, test: { name: 'peers-nightly', include: nightly } },
    ],
  },
}))
