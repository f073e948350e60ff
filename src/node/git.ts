/** What git knows about files. It is started directly, without a shell and without what a repository could make it run for us. */
import { execFile, spawn } from 'node:child_process'
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { type AuthError, ConfigurationError, IntegrityError } from '../errors.ts'
import { systemCode } from './system-error.ts'

/** A regular file; `blob` names what is staged of it. */
export interface GitFile {
  /** Absolute, without symbolic links in the folders above. */
  readonly path: string
  readonly blob?: string
}

/**
 * Files of the working tree that differ from where the current branch left `ref`, with those that git does not know yet and
 * does not ignore. Deleted ones are left out; a renamed one counts under its new name.
 *
 * Errors: `USAGE` outside of a repository, for a revision that there is not, and without git.
 */
export async function changedFiles(folder: string, ref: string): Promise<readonly GitFile[]> {
  const root = await rootOf(folder)
  const commit = await revision(root, ref)
  const base = await git(root, ['merge-base', commit, 'HEAD']).catch(() => commit)
  const [differing, others] = await Promise.all([
    git(root, ['diff', ...RAW, base.trim(), '--']),
    git(root, ['ls-files', '-z', '--others', '--exclude-standard']),
  ])
  const unknown = others.split('\0').filter((path) => path !== '')
  const plain = await Promise.all(unknown.map(async (path) => (await lstat(join(root, path)).catch(() => undefined))?.isFile()))
  return [
    ...filesIn(differing).map(({ path }) => ({ path: join(root, path) })),
    ...unknown.filter((_, index) => plain[index]).map((path) => ({ path: join(root, path) })),
  ]
}

/** Files as they would be committed now. Errors: those of {@link changedFiles}. */
export async function stagedFiles(folder: string): Promise<readonly GitFile[]> {
  const root = await rootOf(folder)
  const staged = await git(root, ['diff', '--cached', ...RAW, '--'])
  return filesIn(staged).map(({ path, blob }) => ({ path: join(root, path), blob }))
}

/** The bytes of a blob. Errors: `FILE_ACCESS`. */
export async function* readBlob(folder: string, blob: string): AsyncGenerator<Uint8Array> {
  const child = spawn('git', ['-C', folder, 'cat-file', 'blob', blob], { stdio: ['ignore', 'pipe', 'ignore'], windowsHide: true })
  const ended = new Promise<number | null>((resolve) => {
    child.on('error', () => resolve(null))
    child.on('close', resolve)
  })
  try {
    yield* child.stdout as AsyncIterable<Uint8Array>
    if ((await ended) !== 0) throw new IntegrityError('FILE_ACCESS', 'git cannot read what is staged')
  } finally {
    child.kill()
  }
}

/** Modes, names of blobs in full and paths, zero bytes between; no program of a configuration is asked. */
const RAW = ['--raw', '-z', '--no-abbrev', '--no-renames', '--diff-filter=d', '--no-ext-diff', '--no-textconv']

/** Links and submodules are no documents. */
function filesIn(raw: string): readonly { readonly path: string; readonly blob: string }[] {
  const parts = raw.split('\0')
  return parts.flatMap((part, index) => {
    const [, mode, blob] = /^:\d+ (\d+) [0-9a-f]+ ([0-9a-f]+) [A-Z]/.exec(part) ?? []
    const path = parts[index + 1]
    return mode?.startsWith('100') && blob !== undefined && path ? [{ path, blob }] : []
  })
}

async function rootOf(folder: string): Promise<string> {
  return (await git(folder, ['rev-parse', '--show-toplevel'])).replace(/\r?\n$/, '')
}

async function revision(root: string, ref: string): Promise<string> {
  try {
    return (await git(root, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`])).trim()
  } catch {
    throw usage(`git knows no revision "${ref}"`, 'what follows --changed is a revision: write --changed=REVISION, or -- before the inputs')
  }
}

function git(folder: string, args: readonly string[]): Promise<string> {
  const safe = ['-C', folder, '-c', 'core.fsmonitor=false', '-c', 'core.quotePath=false']
  const env = { ...process.env, GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0' }
  return new Promise((resolve, reject) => {
    execFile('git', [...safe, ...args], { env, maxBuffer: 256 * 2 ** 20, windowsHide: true }, (error, stdout) => {
      if (!error) resolve(stdout)
      else if (systemCode(error) === 'ENOENT') reject(usage('git was not found', 'install it, or name the files'))
      else reject(usage('this folder is in no repository that git can read', 'run it in the working tree, or name the files'))
    })
  })
}

function usage(message: string, hint: string): AuthError {
  return new ConfigurationError('USAGE', message, { hint })
}
