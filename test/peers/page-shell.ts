/** A shell with the built program and package, as readers of the documentation have it: in a folder, with a home and nothing else. */
import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PACKAGE = fileURLToPath(new URL('../..', import.meta.url))
const CREDENTIALS = '.config/stac-auth/credentials.json'

export interface Outcome {
  readonly status: number
  readonly text: string
}

export interface PageShell {
  /** Creates a folder with files, and with a credential file. Values other than text are written as JSON. */
  folder(name: string, files: Readonly<Record<string, unknown>>, credentials: readonly object[]): Promise<string>
  /** Runs a script, which ends with the first command that fails. The text is that of both streams. */
  run(script: string, folder: string, env?: Readonly<Record<string, string>>): Promise<Outcome>
  remove(): Promise<void>
}

/** Creates a place for folders and for the program, which is also found by `npx`. */
export async function pageShell(): Promise<PageShell> {
  const base = await mkdtemp(join(tmpdir(), 'stac-auth-pages-'))
  const bin = join(base, 'bin')
  await mkdir(bin)
  await mkdir(join(base, 'node_modules'))
  await symlink(PACKAGE, join(base, 'node_modules/stac-auth'))
  await symlink(join(PACKAGE, 'dist/cli/bin.js'), join(bin, 'stac-auth'))
  // That of Debian, which has rasterio.
  await symlink('/usr/bin/python3', join(bin, 'python3'))
  await writeFile(join(bin, 'npx'), '#!/bin/sh\nexec "$@"\n')
  await chmod(join(bin, 'npx'), 0o755)
  return {
    async folder(name, files, credentials) {
      const folder = join(base, name.replace(/\W/g, '-'))
      const all = { ...files, [CREDENTIALS]: { version: 1, credentials } }
      for (const [path, value] of Object.entries(all)) {
        await mkdir(dirname(join(folder, path)), { recursive: true })
        await writeFile(join(folder, path), typeof value === 'string' ? value : `${JSON.stringify(value, undefined, 2)}\n`)
      }
      await chmod(join(folder, CREDENTIALS), 0o600)
      return folder
    },
    run(script, folder, env = {}) {
      const given = { PATH: `${bin}:${process.env.PATH}`, HOME: folder, LC_ALL: 'C.UTF-8', ...env }
      return new Promise((resolve) => {
        const child = execFile('sh', ['-e'], { cwd: folder, env: given, timeout: 60_000 }, (error, stdout, stderr) => {
          resolve({ status: error ? Number(error.code ?? 1) : 0, text: stdout + stderr })
        })
        child.stdin?.end(script)
      })
    },
    remove: () => rm(base, { recursive: true, force: true }),
  }
}
