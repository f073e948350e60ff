import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { root } from '../architecture/files.ts'
import { temporaryFolder } from '../cli/folder.ts'

const folder = await temporaryFolder()
/** Compiled once: the script is started dozens of times. */
const SCRIPT = join(folder, 'release.mjs')
await build({ entryPoints: [`${root}scripts/release.ts`], outfile: SCRIPT, platform: 'node', format: 'esm', bundle: true })
const REPOSITORY = { type: 'git', url: 'git+https://github.com/owner/stac-auth.git' }
const HOMEPAGE = 'https://docs.example/'
const CHANGELOG = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n\n## [0.1.0] - 2026-01-01\n\n### Added\n\n- All.\n'

/** Writes the version where a generated file would have it, or fails. */
const GENERATE = `node -e "require('fs').writeFileSync('man.txt', require('./package.json').version)"`

interface Given {
  readonly changelog?: string
  readonly repository?: unknown
  readonly homepage?: string
  readonly check?: string
  readonly test?: string
}

/** A repository with a package like this one; its commands are quick ones. */
async function repository(given: Given = {}) {
  const { changelog = CHANGELOG, repository: url = REPOSITORY, homepage = HOMEPAGE, check = 'exit 0', test = 'exit 0' } = given
  const cwd = await mkdtemp(join(folder, 'repository-'))
  const env = {
    PATH: process.env.PATH,
    HOME: cwd,
    npm_config_update_notifier: 'false',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'A',
    GIT_AUTHOR_EMAIL: 'a@example.com',
    GIT_COMMITTER_NAME: 'A',
    GIT_COMMITTER_EMAIL: 'a@example.com',
  }
  const put = (name: string, content: unknown) =>
    writeFile(join(cwd, name), typeof content === 'string' ? content : `${JSON.stringify(content, undefined, 2)}\n`)
  await put('package.json', {
    name: 'stac-auth',
    version: '0.1.0',
    repository: url,
    homepage,
    scripts: { generate: GENERATE, check, test },
  })
  const other = { version: '0.1.0', license: 'MIT' }
  await put('package-lock.json', {
    name: 'stac-auth',
    version: '0.1.0',
    lockfileVersion: 3,
    packages: { '': { name: 'stac-auth', version: '0.1.0' }, 'node_modules/other': other },
  })
  await put('CHANGELOG.md', changelog)
  await put('man.txt', '0.1.0')
  await put('.gitignore', '.npm\n')
  const git = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync('git', args, { cwd, env, encoding: 'utf8' })
    if (status !== 0) throw new Error(stderr)
    return stdout.trim()
  }
  git('init', '--quiet', '--initial-branch=main')
  git('add', '.')
  git('commit', '--quiet', '--message=first')
  const text = (name: string) => readFileSync(join(cwd, name), 'utf8')
  const release = (args: string, more: NodeJS.ProcessEnv = {}) => {
    return spawnSync(process.execPath, [SCRIPT, ...args.split(' ').filter(Boolean)], { cwd, env: { ...env, ...more }, encoding: 'utf8' })
  }
  /** Nothing was committed, tagged or left behind. */
  const expectUntouched = () => {
    expect(git('log', '--format=%s')).toBe('first')
    expect(git('tag', '--list')).toBe('')
    expect(JSON.parse(text('package.json')).version).toBe('0.1.0')
    expect(text('CHANGELOG.md')).toBe(changelog)
  }
  return { cwd, git, put, text, release, expectUntouched }
}

describe('npm run release', () => {
  it('writes the version, dates the changes, generates, checks, commits and tags', async () => {
    const check = `node -e "process.exit(require('./package.json').version === '0.2.0' ? 0 : 1)"`
    const { git, text, release } = await repository({ check })
    const days = [new Date()]
    const { status, stdout, stderr } = release('minor')
    days.push(new Date())
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toContain('git push --atomic origin main v0.2.0')

    expect(git('status', '--porcelain')).toBe('')
    expect(git('log', '--format=%s')).toBe('release: 0.2.0\nfirst')
    expect(git('rev-parse', 'v0.2.0^{commit}')).toBe(git('rev-parse', 'HEAD'))
    expect(git('cat-file', '-t', 'v0.2.0')).toBe('tag')
    expect(git('show', '--name-only', '--format=').split('\n')).toEqual(['CHANGELOG.md', 'man.txt', 'package-lock.json', 'package.json'])
    expect(JSON.parse(text('package.json'))).toMatchObject({ version: '0.2.0', repository: REPOSITORY })
    expect(JSON.parse(text('package-lock.json'))).toMatchObject({
      version: '0.2.0',
      packages: { '': { version: '0.2.0' }, 'node_modules/other': { version: '0.1.0' } },
    })
    expect(text('man.txt')).toBe('0.2.0')
    const dates = days
      .map((day) => day.toISOString().slice(0, 10))
      .map((day) => CHANGELOG.replace('## [Unreleased]', `## [Unreleased]\n\n## [0.2.0] - ${day}`))
    expect(dates).toContain(text('CHANGELOG.md'))

    expect(release('verify v0.2.0', { GITHUB_REPOSITORY: 'Owner/stac-auth' })).toMatchObject({ status: 0 })
    expect(release('notes v0.2.0').stdout).toBe('### Added\n\n- A thing.\n')
  })

  it.each([
    ['major', '1.0.0'],
    ['0.1.0', '0.1.0'],
    ['0.10.0', '0.10.0'],
  ])('shows with --dry-run what %s does, and does nothing', async (change, version) => {
    const { release, expectUntouched } = await repository()
    const { status, stdout } = release(`${change} --dry-run`)
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^Would do:/) })
    expect(stdout).toContain(`git tag: v${version}\n`)
    expectUntouched()
  })

  it('refuses a changed file, another branch and a tag that exists, all at once', async () => {
    const { git, put, release } = await repository()
    git('tag', 'v0.2.0')
    git('switch', '--quiet', '--create', 'topic')
    await put('new.txt', 'x')
    const { status, stderr } = release('minor')
    expect(status).toBe(1)
    expect(stderr).toMatch(/^0\.2\.0 is not released:\n {2}the working tree has changes.*:\n {4}\?\? new\.txt\n/)
    expect(stderr).toContain('the branch is topic, releases are made on main')
    expect(stderr).toContain('the tag v0.2.0 exists')
    expect(git('log', '--format=%s')).toBe('first')
  })

  it.each(['check', 'test'] as const)('puts every file back when npm run %s fails', async (name) => {
    const { git, release, text, expectUntouched } = await repository({ [name]: 'exit 3' })
    const { status, stderr } = release('minor')
    expect(status).toBe(1)
    expect(stderr).toMatch(/0\.2\.0 is not released: npm (?:run )?\w+ failed\. Every file is again as it was\n$/)
    expectUntouched()
    expect(text('man.txt')).toBe('0.1.0')
    expect(git('status', '--porcelain')).toBe('')
  })

  it.each([undefined, 'github:', 'https://example.com/owner/stac-auth', { url: 'https://github.com.example/owner/stac-auth' }])(
    'refuses the repository %j, and shows the line to add',
    async (given) => {
      const { release, expectUntouched } = await repository({ repository: given ?? null })
      for (const args of ['minor', 'verify v0.1.0']) {
        expect(release(args)).toMatchObject({
          status: 1,
          stderr: expect.stringContaining('"url": "git+https://github.com/OWNER/NAME.git"'),
        })
      }
      expectUntouched()
    },
  )

  it.each(['', 'http://docs.example/', 'https://github.com/owner/stac-auth#readme'])(
    'refuses the homepage "%s", to whose pages findings would link',
    async (homepage) => {
      const { release, expectUntouched } = await repository({ homepage })
      for (const args of ['minor', 'verify v0.1.0'])
        expect(release(args)).toMatchObject({ status: 1, stderr: expect.stringContaining('Add the line "homepage": "https://SITE/",') })
      expectUntouched()
    },
  )

  it('refuses a release without changes, and a patch that does more than fix', async () => {
    const empty = await repository({ changelog: CHANGELOG.replace('- A thing.\n', '') })
    expect(empty.release('minor').stderr).toContain('CHANGELOG.md has no line below "## [Unreleased]"')
    const { release } = await repository()
    expect(release('patch').stderr).toContain('CHANGELOG.md has Added: a patch only fixes')
    const fixes = await repository({ changelog: CHANGELOG.replace('### Added', '### Fixed') })
    expect(fixes.release('patch --dry-run').stdout).toContain('git tag: v0.1.1')
  })

  it('refuses pages that still say that nothing is published', async () => {
    const { git, put, release } = await repository()
    await put('README.md', '# x\n\nVersion 0.1.0, not yet published.\n')
    git('add', 'README.md')
    git('commit', '--quiet', '--message=readme')
    for (const args of ['minor', 'verify v0.1.0']) expect(release(args).stderr).toContain('README.md says "not yet published"')
    // The check knows the words of this project, which names no repository until its first release.
    const { repository: own } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
    const pages = own ? [] : ['README.md', 'SECURITY.md'].map((page) => readFileSync(root + page, 'utf8'))
    for (const page of pages) expect(page).toMatch(/not yet published|No version has been published so far/)
  })

  it.each([
    ['', ''],
    ['v1.0.0', 'unknown argument: v1.0.0. '],
    ['01.0.0', 'unknown argument: 01.0.0. '],
    ['minor now', 'unknown argument: now. '],
    ['minor --force', 'unknown argument: --force. '],
  ])('refuses the arguments "%s"', async (args, why) => {
    const { release, expectUntouched } = await repository()
    const usage = 'Usage: npm run release -- minor|patch|major|X.Y.Z [--dry-run], or verify|notes vX.Y.Z'
    expect(release(args)).toMatchObject({ status: 1, stderr: `${why}${usage}\n` })
    expectUntouched()
  })

  it('refuses a version that is older than the present one', async () => {
    const { release } = await repository()
    expect(release('0.0.9')).toMatchObject({ status: 1, stderr: '0.0.9 is older than the present version 0.1.0\n' })
  })
})

describe('the check of a tag before it is published', () => {
  it('refuses another version, another repository and a missing section', async () => {
    const { release } = await repository()
    expect(release('verify v0.1.1').stderr).toContain('the tag is v0.1.1, and package.json has version 0.1.0')
    expect(release('verify v0.1.0', { GITHUB_REPOSITORY: 'fork/stac-auth' }).stderr).toContain(
      'names owner/stac-auth, and this runs in fork/stac-auth',
    )
    expect(release('notes v0.3.0').stderr).toBe('CHANGELOG.md has no section for 0.3.0\n')
    expect(release('verify 0.1.0').stderr).toContain('expected vX.Y.Z')
  })
})
