import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseDocument } from 'yaml'
import { root } from '../architecture/files.ts'
import { NIGHTLY } from '../peers/nightly.ts'

interface Step {
  readonly uses?: string
  readonly run?: string
}
interface Job {
  readonly permissions?: Readonly<Record<string, string>>
  readonly container?: string
  readonly strategy?: {
    readonly matrix: { readonly node?: readonly number[]; readonly os?: readonly string[]; readonly part?: readonly string[] }
  }
  readonly steps: readonly Step[]
  readonly 'timeout-minutes'?: number
}
interface Workflow {
  readonly on: Readonly<Record<string, unknown>>
  readonly permissions: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, Job>>
}

const WORKFLOWS = readdirSync(`${root}.github/workflows`)
const { scripts, engines } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))

/** The value of a YAML 1.2 file without errors, warnings and repeated keys. */
function read<T>(path: string): T {
  const document = parseDocument(readFileSync(root + path, 'utf8'), { strict: true, uniqueKeys: true })
  expect([...document.errors, ...document.warnings]).toEqual([])
  return document.toJS() as T
}

const workflow = (name: string) => read<Workflow>(`.github/workflows/${name}`)
const stepsOf = ({ jobs }: Workflow) => Object.values(jobs).flatMap(({ steps }) => steps)
const npmScripts = (step: Step) => [...(step.run ?? '').matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, name = '']) => name)

describe.each(WORKFLOWS)('the workflow %s', (name) => {
  it(`${name} pins every action by commit, and says its version`, () => {
    const lines = readFileSync(`${root}.github/workflows/${name}`, 'utf8').split('\n')
    const uses = lines.filter((line) => line.includes('uses:'))
    expect(uses.length).toBe(stepsOf(workflow(name)).filter((step) => step.uses).length)
    expect(uses.filter((line) => !/uses: actions\/[a-z-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([])
  })

  it(`${name} runs only scripts of package.json`, () => {
    const named = stepsOf(workflow(name)).flatMap(npmScripts)
    expect(named.length).toBeGreaterThan(0)
    expect(named.filter((script) => !(script in scripts))).toEqual([])
  })

  it(`${name} puts no expression into a script, where its text would be code`, () => {
    expect(stepsOf(workflow(name)).filter(({ run }) => run?.includes('${{'))).toEqual([])
  })

  it(`${name} may at most read unless a job says so, and ends what hangs`, () => {
    const { permissions, jobs } = workflow(name)
    expect(Object.values(permissions).filter((value) => value !== 'read')).toEqual([])
    expect(Object.values(jobs).filter((job) => !job['timeout-minutes'])).toEqual([])
  })
})

describe('continuous integration', () => {
  it('runs the command of the README on Linux and macOS under each supported version of Node', () => {
    const { test } = workflow('ci.yml').jobs
    expect(test?.strategy?.matrix).toEqual({
      os: [expect.stringMatching(/^ubuntu-/), expect.stringMatching(/^macos-/)],
      node: [20, 22, 24],
    })
    expect(test?.steps.at(-1)?.run).toBe('npm ci && npm test')
    expect(engines.node).toMatch(/^>=20\./)
  })

  it('runs test folders on Windows that exist and start no program', () => {
    const run = workflow('ci.yml')
      .jobs.windows?.steps.map(({ run: script = '' }) => script)
      .find((line) => line.startsWith('npx vitest run '))
    const folders = (run ?? '').split(' ').slice(3)
    const files = folders.flatMap((folder) =>
      readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' }).map((name) => `${root}${folder}/${name}`),
    )
    expect(folders).toHaveLength(6)
    expect(
      files.filter((path) => path.endsWith('.ts') && /node:child_process|\bchmod|process\.kill/.test(readFileSync(path, 'utf8'))),
    ).toEqual([])
  })

  it('runs everything once, on Debian', () => {
    const { whole } = workflow('ci.yml').jobs
    expect(whole?.container).toMatch(/^node:20-bookworm$/)
    expect(whole?.steps.at(-1)?.run).toBe('.ci/run')
  })

  it('never runs the code of a pull request with the rights of the repository', () => {
    expect(Object.keys(workflow('ci.yml').on)).toEqual(['push', 'pull_request'])
  })
})

describe('the nightly workflow', () => {
  it('has a job for each part of npm run nightly', () => {
    const parts = [...readFileSync(`${root}scripts/nightly.ts`, 'utf8').matchAll(/^ {2}(\w+): \{\s+command: /gm)].map(([, name]) => name)
    expect(parts.length).toBeGreaterThan(8)
    expect(workflow('nightly.yml').jobs.part?.strategy?.matrix.part).toEqual(parts)
  })

  it('has files of peers that are there, and for each of them other tests run on each change', () => {
    const left = Object.keys(NIGHTLY).map((name) => `test/peers/${name}.test.ts`)
    const instead = Object.values(NIGHTLY).flat()
    expect([...left, ...instead].filter((path) => !existsSync(root + path))).toEqual([])
    expect(instead.filter((path) => left.includes(path))).toEqual([])
    expect(Object.values(NIGHTLY).filter((paths) => paths.length === 0)).toEqual([])
  })
})

describe('publishing', () => {
  const { on, jobs } = workflow('publish.yml')

  it('starts by a tag of a version only', () => {
    expect(on).toEqual({ push: { tags: ['v*'] } })
  })

  it('gives the right to publish to a job that runs no code of the repository or its dependencies', () => {
    const writing = Object.entries(jobs).filter(([, { permissions = {} }]) => Object.values(permissions).includes('write'))
    expect(writing.map(([name, { permissions }]) => [name, permissions])).toEqual([
      ['npm', { 'id-token': 'write' }],
      ['github', { contents: 'write' }],
    ])
    for (const [, { steps }] of writing) {
      expect(steps.filter(({ uses, run }) => uses?.includes('checkout') || /npm (?:ci|install|run|test)/.test(run ?? ''))).toEqual([])
    }
  })

  it('checks and tests before it packs, and publishes what was packed, with its provenance', () => {
    const commands = (name: string) => (jobs[name]?.steps ?? []).flatMap(({ run }) => (run ? [run] : []))
    const packing = commands('pack')
    const order = [
      'npm ci',
      'npm run release -- verify',
      'npm test',
      'npm run check',
      'mkdir packed && npm run pack',
      'npx tsx scripts/sbom.ts',
    ]
    const places = order.map((start) => packing.findIndex((line) => line.startsWith(start)))
    expect(places.filter((place) => place < 0)).toEqual([])
    expect([...places].sort((a, b) => a - b)).toEqual(places)
    expect(commands('npm')).toEqual(['npm publish ./*.tgz --provenance --access public'])
    expect(commands('github').join()).toMatch(/^gh release create .* stac-auth\.cdx\.json$/)
  })
})

describe('Dependabot', () => {
  it('proposes new versions of packages and actions', () => {
    const { version, updates } = read<{ version: number; updates: { 'package-ecosystem': string; directory: string }[] }>(
      '.github/dependabot.yml',
    )
    expect(version).toBe(2)
    expect(updates.map((one) => [one['package-ecosystem'], one.directory])).toEqual([
      ['npm', '/'],
      ['github-actions', '/'],
    ])
  })
})
