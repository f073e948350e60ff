/** The package as npm packs it, for the tests that install it. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))

export interface Packed {
  readonly tarball: string
  /** Paths in the package. */
  readonly files: readonly string[]
}

/** Packs what was built into a folder. */
export async function packInto(folder: string): Promise<Packed> {
  const options = ['--json', '--ignore-scripts', '--pack-destination', folder]
  const { stdout } = await run('npm', ['pack', ...options], { cwd: root, maxBuffer: 64 * 1024 * 1024 })
  const [{ filename, files }] = JSON.parse(stdout) as [{ readonly filename: string; readonly files: readonly { readonly path: string }[] }]
  return { tarball: join(folder, filename), files: files.map(({ path }) => path) }
}

/** Installs tarballs and other packages into a folder that has a `package.json`. */
export async function installInto(folder: string, packages: readonly string[]): Promise<void> {
  await run('npm', ['install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', ...packages], { cwd: folder })
}
