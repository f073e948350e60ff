/**
 * Makes a release, without publishing it: `npm run release -- minor|patch|major|X.Y.Z [--dry-run]`.
 *
 * A tag that is pushed starts `.github/workflows/publish.yml`, which asks this script as well: `verify vX.Y.Z` checks that the tag, the
 * package and the repository agree, `notes vX.Y.Z` prints the section of the CHANGELOG.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { docsSite, type Repository, repositoryName } from './repository.ts'

interface Manifest {
  readonly version: string
  readonly repository?: Repository
  readonly homepage?: string
}

const VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/
/** The heading of what is not released; the first version of a package may stand behind it. */
const UNRELEASED = /^## \[Unreleased\].*$/m
/** What stops being true with the first release. */
const UNPUBLISHED = /not\s+yet\s+published|no\s+version\s+has\s+been\s+published\s+so\s+far|not\s+registered\s+at\s+npm/i
const CHECKS = [
  ['npm', 'test'],
  ['npm', 'run', 'check'],
]
const USAGE = 'Usage: npm run release -- minor|patch|major|X.Y.Z [--dry-run], or verify|notes vX.Y.Z'

class Refusal extends Error {}

try {
  main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  console.error(error.message)
  process.exitCode = 1
}

function main(args: readonly string[]): void {
  const options = args.filter((one) => one.startsWith('-'))
  const [action = '', tag = '', ...more] = args.filter((one) => !one.startsWith('-'))
  const unknown = [...options.filter((one) => one !== '--dry-run'), ...more]
  if (unknown.length > 0) throw wrongArgument(unknown.join(' '))
  if (action === 'verify') verify(tag)
  else if (action === 'notes') console.log(sectionOf(versionOf(tag)))
  else if (tag !== '') throw wrongArgument(tag)
  else release(action, options.length > 0)
}

function wrongArgument(text: string): Refusal {
  return new Refusal(`unknown argument: ${text}. ${USAGE}`)
}

function release(change: string, dryRun: boolean): void {
  const { version: old } = manifest()
  const version = nextVersion(old, change)
  const problems = [...problemsOfTree(version), ...problemsOfAddresses(), ...problemsOfChangelog(change), ...problemsOfPages()]
  if (problems.length > 0) throw new Refusal(`${version} is not released:\n${problems.map((one) => `  ${one}`).join('\n')}`)

  const heading = `## [${version}] - ${new Date().toISOString().slice(0, 10)}`
  const steps = [
    `version in package.json and package-lock.json: ${old} becomes ${version}`,
    `CHANGELOG.md: what is unreleased is now below "${heading}"`,
    'npm run generate',
    ...CHECKS.map((command) => command.join(' ')),
    `git commit: release: ${version}`,
    `git tag: v${version}`,
  ]
  console.log(`${dryRun ? 'Would do' : 'Does'}:\n${steps.map((one) => `  ${one}`).join('\n')}`)
  if (dryRun) return

  writeVersion(old, version)
  writeFileSync('CHANGELOG.md', changelog().replace(UNRELEASED, `## [Unreleased]\n\n${heading}`))
  for (const command of [['npm', 'run', 'generate'], ...CHECKS]) {
    if (run(command)) continue
    // The tree was clean: what differs now was written here.
    git('restore', '--staged', '--worktree', '.')
    throw new Refusal(`${version} is not released: ${command.join(' ')} failed. Every file is again as it was`)
  }
  git('commit', '--quiet', '--all', '--message', `release: ${version}`)
  git('tag', '--annotate', `v${version}`, '--message', `Version ${version}`)
  console.log(`Made v${version}. To publish it: git push --atomic origin main v${version}`)
}

/** Refuses unless the tag, the package, the CHANGELOG and the repository in which this runs agree. */
function verify(tag: string): void {
  const version = versionOf(tag)
  const { version: actual } = manifest()
  const here = process.env.GITHUB_REPOSITORY
  const named = repositoryName(manifest().repository)
  const problems = [...problemsOfAddresses(), ...problemsOfPages()]
  if (actual !== version) problems.push(`the tag is ${tag}, and package.json has version ${actual}`)
  if (named && here && named.toLowerCase() !== here.toLowerCase()) {
    problems.push(`"repository" in package.json names ${named}, and this runs in ${here}: npm refuses its provenance`)
  }
  if (problems.length > 0) throw new Refusal(`${tag} is not published:\n${problems.map((one) => `  ${one}`).join('\n')}`)
  sectionOf(version)
  console.log(`${tag} agrees with package.json, CHANGELOG.md and the repository`)
}

function nextVersion(old: string, change: string): string {
  const [major = 0, minor = 0, patch = 0] = old.split('.').map(Number)
  if (change === 'major') return `${major + 1}.0.0`
  if (change === 'minor') return `${major}.${minor + 1}.0`
  if (change === 'patch') return `${major}.${minor}.${patch + 1}`
  if (change === '') throw new Refusal(USAGE)
  if (!VERSION.test(change)) throw wrongArgument(change)
  if (isOlder(change, old)) throw new Refusal(`${change} is older than the present version ${old}`)
  return change
}

function isOlder(version: string, than: string): boolean {
  const [left, right] = [version, than].map((one) => one.split('.').map(Number))
  const index = [0, 1, 2].find((part) => left?.[part] !== right?.[part])
  return index !== undefined && Number(left?.[index]) < Number(right?.[index])
}

function problemsOfTree(version: string): readonly string[] {
  const problems: string[] = []
  const changed = git('status', '--porcelain')
  if (changed) problems.push(`the working tree has changes, commit or remove them:\n${changed.replace(/^/gm, '    ')}`)
  const branch = git('rev-parse', '--abbrev-ref', 'HEAD').trim()
  if (branch !== 'main') problems.push(`the branch is ${branch}, releases are made on main`)
  if (git('tag', '--list', `v${version}`)) problems.push(`the tag v${version} exists`)
  return problems
}

/** npm accepts the provenance of a package only when its `repository` is the one in which it was built. */
function problemsOfAddresses(): string[] {
  const { repository, homepage } = manifest()
  const add = (line: string) => `Add the line ${line} and run npm run generate`
  const problems: string[] = []
  if (!repositoryName(repository)) {
    const line = add('"repository": { "type": "git", "url": "git+https://github.com/OWNER/NAME.git" },')
    problems.push(`package.json names no repository on GitHub, which npm compares with the provenance. ${line}`)
  }
  if (!docsSite(homepage)) {
    const line = add('"homepage": "https://SITE/",')
    problems.push(`package.json names no site with the pages of npm run docs, to which findings link. ${line}`)
  }
  return problems
}

function problemsOfChangelog(change: string): readonly string[] {
  const section = sectionBelow(UNRELEASED)
  if (section === undefined) return ['CHANGELOG.md has no heading "## [Unreleased]"']
  if (!/^- /m.test(section)) return ['CHANGELOG.md has no line below "## [Unreleased]"']
  const kinds = [...section.matchAll(/^### (.+)$/gm)].map(([, kind]) => kind)
  const more = kinds.filter((kind) => kind !== 'Fixed' && kind !== 'Security')
  return change === 'patch' && more.length > 0 ? [`CHANGELOG.md has ${more.join(', ')}: a patch only fixes, release a minor version`] : []
}

function problemsOfPages(): readonly string[] {
  return ['README.md', 'docs/README.md', 'docs/linting.md', 'SECURITY.md', 'examples/stac-browser/README.md'].flatMap((page) => {
    const [found] = existsSync(page) ? (UNPUBLISHED.exec(readFileSync(page, 'utf8')) ?? []) : []
    return found ? [`${page} says "${found}": say how to install the package instead`] : []
  })
}

function sectionOf(version: string): string {
  const section = sectionBelow(new RegExp(`^## \\[${version.replaceAll('.', '\\.')}\\].*$`, 'm'))
  if (!section) throw new Refusal(`CHANGELOG.md has no section for ${version}`)
  return section
}

/** The text between a heading of the CHANGELOG and the next one of its level. */
function sectionBelow(heading: RegExp): string | undefined {
  const text = changelog()
  const found = heading.exec(text)
  return found
    ? text
        .slice(found.index + found[0].length)
        .split(/^## /m)[0]
        ?.trim()
    : undefined
}

function versionOf(tag: string): string {
  const version = tag.slice(1)
  if (!tag.startsWith('v') || !VERSION.test(version))
    throw new Refusal(`${tag || 'the empty text'} is not a tag of a version: expected vX.Y.Z`)
  return version
}

/** Changes one text in each file: the rest keeps its form. */
function writeVersion(old: string, version: string): void {
  const field = `"version": "${old}"`
  for (const [file, places] of [
    ['package.json', 1],
    ['package-lock.json', 2],
  ] as const) {
    // The own version comes first in both files, and in the lock file once more for the package itself.
    let left = places
    const text = readFileSync(file, 'utf8').replaceAll(field, (found) => (left-- > 0 ? `"version": "${version}"` : found))
    writeFileSync(file, text)
  }
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  if (manifest().version !== version || lock.version !== version || lock.packages[''].version !== version) {
    throw new Error('package.json and package-lock.json do not have the same version')
  }
}

function manifest(): Manifest {
  return JSON.parse(readFileSync('package.json', 'utf8')) as Manifest
}

function changelog(): string {
  return readFileSync('CHANGELOG.md', 'utf8')
}

function run([program = '', ...args]: readonly string[]): boolean {
  return spawnSync(program, args, { stdio: 'inherit' }).status === 0
}

function git(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { encoding: 'utf8' })
  if (status !== 0) throw new Refusal(`git ${args[0]} failed: ${stderr.trim()}`)
  return stdout
}
