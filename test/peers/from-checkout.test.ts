/** The pre-commit hooks as pre-commit installs them: from a clone of the files of this repository, by the npm of this machine. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { itemWith } from '../cli/items.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PRE_COMMIT = '/usr/bin/pre-commit'
const required = process.env.PEERS === 'required'
const base = await mkdtemp(join(tmpdir(), 'stac-auth-hooks-'))
afterAll(() => rm(base, { recursive: true, force: true }))

const user = { GIT_AUTHOR_NAME: 't', GIT_AUTHOR_EMAIL: 't@t.example', GIT_COMMITTER_NAME: 't', GIT_COMMITTER_EMAIL: 't@t.example' }
const env = { ...process.env, ...user, PRE_COMMIT_HOME: join(base, 'cache') }

function git(folder: string, ...args: string[]): string {
  return execFileSync('git', ['-C', folder, ...args], { env, encoding: 'utf8' }).trim()
}

/** A repository with the files of this one as they are now, and its commit. */
async function copyOfThis(): Promise<readonly [string, string]> {
  const copy = join(base, 'stac-auth')
  await mkdir(copy)
  const files = execFileSync('git', ['-C', ROOT, 'ls-files', '-z', '--cached', '--others', '--exclude-standard'])
  const packed = execFileSync('tar', ['-C', ROOT, '--null', '--ignore-failed-read', '-T', '-', '-cf', '-'], {
    input: files,
    maxBuffer: 2 ** 30,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  execFileSync('tar', ['-C', copy, '-xf', '-'], { input: packed })
  git(copy, 'init', '-q')
  git(copy, 'add', '-A')
  git(copy, 'commit', '-qm', 'files')
  return [copy, git(copy, 'rev-parse', 'HEAD')]
}

describe.skipIf(!existsSync(PRE_COMMIT) && !required)('the hooks of pre-commit', () => {
  it('build the program in the clone of pre-commit, and lint what is staged', { timeout: 600_000 }, async () => {
    const [repo, rev] = await copyOfThis()
    const linted = join(base, 'linted')
    await mkdir(linted)
    git(linted, 'init', '-q')
    const hooks = { repos: [{ repo, rev, hooks: [{ id: 'stac-auth-staged', args: ['--preset=strict', '--'] }] }] }
    await writeFile(join(linted, '.pre-commit-config.yaml'), JSON.stringify(hooks))
    await writeFile(join(linted, '.npmrc'), 'registry=http://127.0.0.1:1/\n')
    const item = (ref: string) => JSON.stringify(itemWith({ data: { href: 'https://data.example/f', 'auth:refs': [ref] } }))
    await writeFile(join(linted, 'item.json'), item('gone'))
    git(linted, 'add', '-A')
    const run = () => spawnSync(PRE_COMMIT, ['run'], { cwd: linted, env, encoding: 'utf8' })
    expect(run()).toMatchObject({ status: 1, stdout: expect.stringContaining('dangling-ref') })
    await writeFile(join(linted, 'item.json'), item('key'))
    git(linted, 'add', '-A')
    expect(run()).toMatchObject({ status: 0, stdout: expect.stringContaining('Passed') })
  })
})
