/**
 * Queries git about files. It is started directly, without a shell, and runs no program that only the repository configures: no
 * hook, no file system monitor, no filter, nothing that fetches. Filters in the settings of the user or the machine do run if git
 * needs them to compare a file with the commit, as git-lfs does; before git 2.31 those of the repository run as well.
 */
import { execFile, spawn } from 'node:child_process'
import { lstat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { type AuthError, ConfigurationError, IntegrityError } from '../../errors.ts'
import { systemCode, withAbsoluteFolders } from '../../node/base/index.ts'

/** A regular file; `blob` is the name of its staged content. */
export interface GitFile {
  /** Absolute, without symbolic links in the folders above. */
  readonly path: string
  readonly blob?: string
}

/**
 * Returns the files of the working tree that differ from the merge base of the current branch and `ref`, and untracked files that are not
 * ignored. Deleted files are left out; a renamed file counts under its new name.
 *
 * Errors: `USAGE` outside of a repository, for an unknown revision, and without git.
 *
 * @param signal stops the processes of git
 */
export async function changedFiles(folder: string, ref: string, signal?: AbortSignal): Promise<readonly GitFile[]> {
  const root = await rootOf(folder, signal)
  const commit = await revision(root, ref, signal)
  const base = await git(root, ['merge-base', commit, 'HEAD'], signal).catch(() => commit)
  const [differing, others] = await Promise.all([
    git(root, ['diff', ...RAW, base.trim(), '--'], signal, await withoutFilters(root, signal)),
    git(root, ['ls-files', '-z', '--others', '--exclude-standard'], signal),
  ])
  const unknown = others.split('\0').filter((path) => path !== '')
  const plain = await Promise.all(unknown.map(async (path) => (await lstat(join(root, path)).catch(() => undefined))?.isFile()))
  return [
    ...filesIn(differing).map(({ path }) => ({ path: join(root, path) })),
    ...unknown.filter((_, index) => plain[index]).map((path) => ({ path: join(root, path) })),
  ]
}

/** Returns the staged files. Errors: those of {@link changedFiles}. */
export async function stagedFiles(folder: string, signal?: AbortSignal): Promise<readonly GitFile[]> {
  const root = await rootOf(folder, signal)
  const staged = await git(root, ['diff', '--cached', ...RAW, '--'], signal)
  return filesIn(staged).map(({ path, blob }) => ({ path: join(root, path), blob }))
}

/** Yields the bytes of a blob. Errors: `FILE_ACCESS`. */
export async function* readBlob(folder: string, blob: string, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  const args = [...safely(folder), 'cat-file', 'blob', blob]
  const child = spawn('git', args, { cwd: OUTSIDE, env: environment(), stdio: ['ignore', 'pipe', 'ignore'], windowsHide: true, signal })
  const ended = new Promise<number | null>((done) => {
    child.on('error', () => done(null))
    child.on('close', done)
  })
  try {
    yield* child.stdout as AsyncIterable<Uint8Array>
    if ((await ended) !== 0) throw new IntegrityError('FILE_ACCESS', 'git cannot read a staged file')
  } finally {
    child.kill()
  }
}

/** Options for modes, full names of blobs, and paths, separated by zero bytes; git runs no diff program and enters no submodule. */
const RAW = ['--raw', '-z', '--no-abbrev', '--no-renames', '--diff-filter=d', '--no-ext-diff', '--no-textconv', '--ignore-submodules=all']

/** Returns the regular files in the output of git; links and submodules are left out. */
function filesIn(raw: string): readonly { readonly path: string; readonly blob: string }[] {
  const parts = raw.split('\0')
  return parts.flatMap((part, index) => {
    const [, mode, blob] = /^:\d+ (\d+) [0-9a-f]+ ([0-9a-f]+) [A-Z]/.exec(part) ?? []
    const path = parts[index + 1]
    return mode?.startsWith('100') && blob !== undefined && path ? [{ path, blob }] : []
  })
}

async function rootOf(folder: string, signal: AbortSignal | undefined): Promise<string> {
  return (await git(folder, ['rev-parse', '--show-toplevel'], signal)).replace(/\r?\n$/, '')
}

async function revision(root: string, ref: string, signal: AbortSignal | undefined): Promise<string> {
  try {
    return (await git(root, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`], signal)).trim()
  } catch {
    if (ref === 'HEAD') throw usage('the repository has no commit yet', 'commit once, or lint the folder without --changed')
    throw usage(
      `git does not know the revision "${ref}"`,
      'the value of --changed is a revision: write --changed=REVISION, or -- before the inputs; a shallow clone lacks older ones',
    )
  }
}

/**
 * Returns variables that turn off the filters which the repository itself configures (git-config, GIT_CONFIG_COUNT; `-c` does not support
 * names that contain `=`).
 */
async function withoutFilters(root: string, signal: AbortSignal | undefined): Promise<Variables> {
  const listed = await git(root, ['config', '-z', '--show-scope', '--name-only', '--get-regexp', '^filter\\.'], signal).catch(() => '')
  const parts = listed.split('\0')
  const own = parts.filter((_, index) => index % 2 === 1 && ['local', 'worktree'].includes(parts[index - 1] ?? ''))
  const filters = new Set(own.map((key) => key.slice(0, key.lastIndexOf('.'))))
  const settings = [...filters].flatMap((filter) => [
    [`${filter}.clean`, ''],
    [`${filter}.process`, ''],
    [`${filter}.required`, 'false'],
  ])
  const given = Number(process.env.GIT_CONFIG_COUNT ?? 0) || 0
  const variables = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${given + index}`, key],
    [`GIT_CONFIG_VALUE_${given + index}`, value],
  ])
  return { GIT_CONFIG_COUNT: String(given + settings.length), ...Object.fromEntries(variables) }
}

/**
 * The folder where git is started, which then enters the repository: on Windows the current folder is searched for programs before those
 * of `PATH`, and so are relative folders of `PATH` elsewhere.
 */
const OUTSIDE = dirname(process.execPath)

function safely(folder: string): readonly string[] {
  return [
    '-C',
    resolve(folder),
    ...['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'core.quotePath=false'].flatMap((setting) => ['-c', setting]),
  ]
}

type Variables = Readonly<Record<string, string | undefined>>

/** Returns the environment of git. Older versions ignore `GIT_NO_LAZY_FETCH`, so all protocols are disabled as well. */
function environment(): Variables {
  return {
    ...withAbsoluteFolders(process.env),
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: '',
  }
}

function git(folder: string, args: readonly string[], signal: AbortSignal | undefined, more: Variables = {}): Promise<string> {
  const env = { ...environment(), ...more }
  return new Promise((done, reject) => {
    execFile(
      'git',
      [...safely(folder), ...args],
      { cwd: OUTSIDE, env, maxBuffer: 256 * 2 ** 20, windowsHide: true, signal },
      (error, stdout) => {
        if (!error) done(stdout)
        else if (systemCode(error) === 'ENOENT') reject(usage('git was not found', 'install it, or name the files'))
        else reject(usage('this folder is not in a repository that git can read', 'run it in the working tree, or name the files'))
      },
    )
  })
}

function usage(message: string, hint: string): AuthError {
  return new ConfigurationError('USAGE', message, { hint })
}
