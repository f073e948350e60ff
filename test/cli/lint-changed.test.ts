import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, rename, rm, symlink, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { put, temporaryFolder } from './folder.ts'
import { itemWith } from './items.ts'
import { lastError, run } from './run.ts'

const home = process.cwd()
const item = (...refs: string[]) => itemWith({ data: { href: 'https://data.example/f', 'auth:refs': refs } })
const [clean, dangling] = [item('key'), item('gone', 'key')]

let folder: string
let git: (...args: string[]) => string
const base = await temporaryFolder()
let round = 0

beforeEach(async () => {
  folder = join(base, `r${round++}`)
  await mkdir(join(folder, 'items'), { recursive: true })
  await mkdir(join(folder, 'other'))
  const config = ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'commit.gpgsign=false', '-c', 'init.defaultBranch=main']
  git = (...args) => execFileSync('git', ['-C', folder, ...config, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  git('init', '-q')
  for (const name of ['items/a.json', 'items/b.json', 'items/c.json', 'other/d.json']) await put(folder, name, clean)
  await put(folder, '.gitignore', 'ignored.json\n')
  git('add', '.')
  git('commit', '-qm', 'first')
  process.chdir(folder)
})
afterEach(() => process.chdir(home))

/** Documents with findings, how many were linted, and the exit code. */
async function lint(...argv: string[]) {
  const outcome = await run(['lint', '--format', 'json', ...argv])
  if (outcome.stdout === '') return { ...outcome, found: [], documents: undefined }
  const { problems, summary } = JSON.parse(outcome.stdout)
  return { ...outcome, found: problems.map(({ document }: { document: string }) => document), documents: summary.documents }
}

describe('lint --changed', () => {
  it('lints changed, new and renamed files; not those that are deleted, ignored, linked or no document', async () => {
    await put(folder, 'items/a.json', dangling)
    await put(folder, 'items/ä "new".json', dangling)
    await put(folder, 'ignored.json', dangling)
    await put(folder, 'items/notes.txt', 'text')
    await rm(join(folder, 'items/b.json'))
    await rename(join(folder, 'items/c.json'), join(folder, 'items/renamed.json'))
    await symlink('a.json', join(folder, 'items/link.json'))
    expect(await lint('--changed')).toMatchObject({ code: 1, documents: 3, found: ['items/a.json', 'items/ä "new".json'] })
  })

  it('lints what the branch changed, not what happened elsewhere since', async () => {
    git('checkout', '-qb', 'branch')
    await put(folder, 'items/a.json', dangling)
    git('commit', '-qam', 'mine')
    git('checkout', '-q', 'main')
    await put(folder, 'items/b.json', dangling)
    git('commit', '-qam', 'theirs')
    git('checkout', '-q', 'branch')
    expect(await lint('--changed=main')).toMatchObject({ documents: 1, found: ['items/a.json'] })
    expect(await lint('--changed')).toMatchObject({ code: 0, documents: 0 })
  })

  it('keeps to the inputs, under the names that they give: folders, files, globs, from any folder', async () => {
    for (const name of ['items/a.json', 'other/d.json', 'items/plain.txt']) await put(folder, name, dangling)
    const all: readonly (readonly [string[], string[]])[] = [
      [['items'], ['items/a.json']],
      [
        ['./items', 'other'],
        ['items/a.json', 'other/d.json'],
      ],
      [['items/a.json', 'items/b.json'], ['items/a.json']],
      [['items/plain.txt'], ['items/plain.txt']],
      [['**/d.json'], ['other/d.json']],
      [['*.json'], []],
      [[join(folder, 'other')], [join(folder, 'other/d.json')]],
    ]
    for (const [inputs, found] of all) expect((await lint('--changed', '--', ...inputs)).found).toEqual(found)
    process.chdir(join(folder, 'other'))
    expect((await lint('--changed')).found).toEqual(['d.json'])
    expect((await lint('--changed', '--', '..')).found).toEqual(['../items/a.json', '../other/d.json'])
  })

  it('fixes what has changed and nothing else', async () => {
    const before = await readFile(join(folder, 'items/b.json'), 'utf8')
    await put(folder, 'items/a.json', item('key', 'key'))
    await lint('--changed', '--fix')
    expect(JSON.parse(await readFile(join(folder, 'items/a.json'), 'utf8')).assets.data['auth:refs']).toEqual(['key'])
    expect(await readFile(join(folder, 'items/b.json'), 'utf8')).toBe(before)
  })
})

describe('lint --staged', () => {
  it('lints what would be committed, whatever the files say now', async () => {
    await put(folder, 'items/a.json', dangling)
    await put(folder, 'items/b.json', dangling)
    await put(folder, 'items/new.json', dangling)
    git('add', 'items/a.json', 'items/new.json')
    await put(folder, 'items/a.json', clean)
    await rm(join(folder, 'items/new.json'))
    git('rm', '-q', '--cached', 'items/c.json')
    const outcome = await lint('--staged')
    expect(outcome).toMatchObject({ code: 1, documents: 2, found: ['items/a.json', 'items/new.json'] })
    expect(JSON.parse(outcome.stdout).problems[0]).toMatchObject({ line: 1, column: expect.any(Number) })
    expect((await lint('--staged', 'items/new.json')).found).toEqual(['items/new.json'])
    expect((await run(['lint', '--staged', 'items/a.json'])).stdout).toContain('"gone"')
  })

  it('lint --staged is content with nothing', async () => {
    await put(folder, 'items/a.json', dangling)
    expect(await lint('--staged')).toMatchObject({ code: 0, documents: 0, stderr: '' })
  })

  it('reads the index that git hands to a hook', async () => {
    await put(folder, 'items/a.json', dangling)
    execFileSync('git', ['-C', folder, 'add', 'items/a.json'], { env: { ...process.env, GIT_INDEX_FILE: join(folder, '.git/other') } })
    process.env.GIT_INDEX_FILE = join(folder, '.git/other')
    try {
      expect((await lint('--staged')).found).toEqual(['items/a.json'])
    } finally {
      delete process.env.GIT_INDEX_FILE
    }
  })
})

describe('a repository that names programs', () => {
  const ran = () => existsSync(join(folder, 'ran'))
  const program = async (name: string) => {
    const path = await put(folder, name, '#!/bin/sh\n: > "$(git rev-parse --show-toplevel)/ran"\ncat\n')
    await chmod(path, 0o700)
    return path
  }
  const touched = new Date(1_700_000_000_000)

  it.each(['shout', 'a=b', 'With.Dots'])('runs no filter of its own: %s', async (name) => {
    const filter = await program('filter')
    for (const kind of ['clean', 'process']) git('config', `filter.${name}.${kind}`, filter)
    git('config', `filter.${name}.required`, 'true')
    await put(folder, '.git/info/attributes', `*.json filter=${name}\n`)
    await utimes(join(folder, 'items/a.json'), touched, touched)
    await put(folder, 'items/b.json', dangling)
    expect(await lint('--changed')).toMatchObject({ code: 1, documents: 1, found: ['items/b.json'] })
    expect(ran()).toBe(false)
    git('config', '--unset', `filter.${name}.process`)
    git('diff', '--raw')
    expect(ran()).toBe(true)
  })

  it('runs the filters of the user, whose files would else differ from what is committed', async () => {
    const settings = await put(folder, 'settings', '[filter "sorted"]\n\tclean = tr a-z A-Z\n')
    const { GIT_CONFIG_GLOBAL: before } = process.env
    process.env.GIT_CONFIG_GLOBAL = settings
    try {
      await put(folder, '.gitattributes', '*.txt filter=sorted\n')
      await put(folder, 'a.txt', 'text')
      git('add', '.')
      git('commit', '-qm', 'filtered')
      await utimes(join(folder, 'a.txt'), touched, touched)
      expect(await lint('--changed', '--', 'a.txt')).toMatchObject({ code: 0, documents: 0 })
    } finally {
      if (before === undefined) delete process.env.GIT_CONFIG_GLOBAL
      else process.env.GIT_CONFIG_GLOBAL = before
    }
  })

  it('finds git outside of the repository, also when the search begins in the current folder', async () => {
    const before = process.env.PATH
    await program('git')
    try {
      process.env.PATH = `.:${before}`
      expect(await lint('--changed')).toMatchObject({ code: 0 })
      expect(await lint('--staged')).toMatchObject({ code: 0 })
    } finally {
      process.env.PATH = before
    }
    expect(ran()).toBe(false)
  })

  it('runs no hook, no monitor and nothing that fetches', async () => {
    const monitor = await program('monitor')
    await mkdir(join(folder, 'hooks'))
    await program('hooks/post-index-change')
    git('config', 'core.hooksPath', join(folder, 'hooks'))
    git('config', 'core.fsmonitor', monitor)
    git('config', 'remote.origin.url', `ext::${monitor}`)
    git('config', 'protocol.ext.allow', 'always')
    git('config', 'remote.origin.promisor', 'true')
    git('config', 'extensions.partialClone', 'origin')
    git('config', 'core.repositoryFormatVersion', '1')
    await put(folder, 'items/a.json', dangling)
    git('-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false', 'add', 'items/a.json')
    const blob = git('-c', 'core.fsmonitor=false', 'rev-parse', ':items/a.json').trim()
    expect(await lint('--staged')).toMatchObject({ code: 1, documents: 1 })
    await rm(join(folder, '.git/objects', blob.slice(0, 2), blob.slice(2)))
    expect(await lint('--staged')).toMatchObject({ code: 6 })
    expect(ran()).toBe(false)
  })
})

describe('what is refused', () => {
  it.each([
    [['--staged', '--changed'], 'exclude each other'],
    [['--staged', '--fix', 'items'], '--staged and --fix exclude each other'],
    [['--staged', '--crawl', 'items'], '--staged and --crawl exclude each other'],
    [['--changed', '--', '-'], 'not stdin'],
    [['--staged', 'https://data.example/'], 'not URLs'],
    [['--changed', 'items'], 'does not know the revision "items"'],
    [['--changed=--output=/tmp/x'], 'does not know the revision "--output=/tmp/x"'],
    [['--staged', 'missing.json'], '"missing.json" is not a file or folder'],
    [['--staged', 'items', '!items/a.json'], 'no file matches !items/a.json'],
    [['--staged', '--baseline', 'b', '--update-baseline'], 'a run over all documents'],
  ])('%j', async (argv, message) => {
    const outcome = await run(['lint', '--format', 'json', ...argv])
    expect(outcome.code).toBe(2)
    expect(lastError(outcome)).toMatchObject({ code: 'USAGE', message: expect.stringContaining(message) })
  })

  it('what is refused is a comparison in a repository without a commit', async () => {
    const empty = join(base, 'empty')
    await mkdir(empty)
    process.chdir(empty)
    execFileSync('git', ['init', '--quiet'])
    const outcome = await run(['lint', '--changed'], {})
    expect([outcome.code, outcome.stderr]).toEqual([2, expect.stringContaining('the repository has no commit yet')])
  })

  it('what is refused is a folder outside of any repository', async () => {
    process.chdir(base)
    const outcome = await run(['lint', '--staged'], {})
    expect([outcome.code, outcome.stderr]).toEqual([2, expect.stringContaining('is not in a repository')])
  })
})
