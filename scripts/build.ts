/** Compiles `src` into `dist`. A failed build leaves the old output alone; a finished one leaves nothing stale behind. */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = `${root}dist`
// Beside the old output, so that the swap is a rename; a name of its own, so that two builds do not meet.
const fresh = mkdtempSync(`${root}node_modules/.build-`)
const bin = `${fresh}/cli/bin.js`

const tsc = spawnSync(process.execPath, [`${root}node_modules/typescript/bin/tsc`, '-p', `${root}tsconfig.build.json`, '--outDir', fresh], {
  stdio: ['ignore', 2, 2],
})
if (tsc.status === 0) {
  await joinRules(`${fresh}/lint/rules`)
  chmodSync(fresh, 0o755)
  if (existsSync(bin)) chmodSync(bin, 0o755)
  rmSync(dist, { recursive: true, force: true })
  renameSync(fresh, dist)
} else {
  rmSync(fresh, { recursive: true, force: true })
  process.exitCode = tsc.status ?? 1
}

/** Makes one file of all rules, and one of what their pages say: Node opens the modules of a graph all at once, and descriptors are few. */
async function joinRules(folder: string): Promise<void> {
  await build({
    entryPoints: ['index.js', 'pages.js'],
    absWorkingDir: folder,
    outdir: folder,
    allowOverwrite: true,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    logLevel: 'warning',
    plugins: [{ name: 'rules-only', setup: ({ onResolve }) => onResolve({ filter: /^\.\.\// }, ({ path }) => ({ path, external: true })) }],
  })
}
