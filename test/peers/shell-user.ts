/** Somebody with a credential file, a shell and the built command line in it. */
import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { put, temporaryFolder } from '../cli/folder.ts'

export interface Ending {
  readonly code: unknown
  readonly stdout: Buffer
  readonly stderr: string
}

export interface ShellUser {
  /** Where commands are run, and where the home is. */
  readonly folder: string
  /** Writes a file, a value as JSON; its path. */
  put(name: string, content: unknown): Promise<string>
  /** Runs a script of `sh`, which finds `stac-auth`; the arguments are `$1` and following. */
  sh(script: string, ...args: readonly string[]): Promise<Ending>
  /** Starts `stac-auth` with these arguments; it is up to the caller to end it. */
  start(...argv: readonly string[]): ChildProcessByStdio<null, Readable, Readable>
}

/** Keeps a secret in a file of its own; what an entry says about it. */
export type Keep = (secret: string) => { readonly file: string }

/** A user with these entries, and an environment of nothing but these variables and what a shell needs. */
export async function shellUser(
  entriesWith: (keep: Keep) => readonly object[],
  variables: Readonly<Record<string, string>> = {},
): Promise<ShellUser> {
  const folder = await temporaryFolder()
  const programs = join(folder, 'bin')
  await mkdir(programs)
  await symlink(fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url)), join(programs, 'stac-auth'))
  const secrets: string[] = []
  const credentials = entriesWith((secret) => ({ file: join(folder, `secret-${secrets.push(secret)}`) }))
  await Promise.all(secrets.map((secret, index) => put(folder, `secret-${index + 1}`, secret)))
  const file = await put(folder, 'credentials.json', { version: 1, credentials })
  const env = { PATH: `${programs}:${process.env.PATH}`, HOME: folder, LC_ALL: 'C.UTF-8', STAC_AUTH_CREDENTIALS: file, ...variables }
  return {
    folder,
    put: (name, content) => put(folder, name, content),
    start: (...argv) => spawn(join(programs, 'stac-auth'), argv, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] }),
    sh: (script, ...args) =>
      new Promise((resolve) => {
        execFile('sh', ['-c', script, 'sh', ...args], { cwd: folder, env, encoding: 'buffer' }, (error, stdout, stderr) =>
          resolve({ code: error ? error.code : 0, stdout, stderr: stderr.toString() }),
        )
      }),
  }
}
