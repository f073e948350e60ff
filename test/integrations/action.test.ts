import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, copyFile, mkdir, mkdtemp, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../cli/folder.ts'
import { itemWith } from '../cli/items.ts'
import { run } from '../cli/run.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const action = readFileSync(join(root, 'action.yml'), 'utf8')
const [, indented = ''] = /\n {6}run: \|\n([\s\S]*)$/.exec(action) ?? []
const script = indented.replace(/^ {8}/gm, '')
const folder = await temporaryFolder()
const temporary = join(folder, 'temporary')
await mkdir(temporary)

async function executable(path: string, text: string): Promise<void> {
  await writeFile(path, text)
  await chmod(path, 0o755)
}

/** A checkout of the action, with its script alone. */
async function checkout(name: string, program: string): Promise<string> {
  const path = join(folder, name)
  await mkdir(join(path, 'scripts'), { recursive: true })
  await executable(join(path, 'scripts/from-checkout.sh'), program)
  return path
}

/** Runs in place of the program: prints its arguments, one on each line, with line feeds written out. */
const printing = await checkout('printing', '#!/bin/bash\nfor argument in "$@"; do printf "%q\\n" "$argument"; done\n')

const NONE = { PRESET: '', CONFIG: '', BASELINE: '', MAX_WARNINGS: '', SARIF: '', FAIL_SEVERITY: 'error', PATHS: '.' }

interface Place {
  readonly cwd?: string
  readonly path?: string
  readonly env?: Readonly<Record<string, string>>
}

function start(
  inputs: Partial<typeof NONE>,
  { cwd = folder, path = '/usr/bin:/bin', env: more = { GITHUB_ACTION_PATH: printing } }: Place = {},
) {
  const named = Object.entries({ ...NONE, ...inputs }).map(([name, value]) => [`LINT_${name}`, value])
  const env = {
    PATH: path,
    LC_ALL: 'C',
    TMPDIR: temporary,
    GITHUB_STEP_SUMMARY: join(folder, 'summary file'),
    ...Object.fromEntries(named),
    ...more,
  }
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script], { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  return { status, stderr, lines: stdout.trimEnd().split('\n') }
}

describe('the GitHub action', () => {
  it('runs its own program with annotations and a summary, and leaves nothing behind', async () => {
    expect(start({})).toEqual({
      status: 0,
      stderr: '',
      lines: ['lint', '--format=github', `--format=markdown=${folder}/summary\\ file`, '--fail-severity=error', '--', '.'],
    })
    expect(await readdir(temporary)).toEqual([])
  })

  it('passes its inputs on as they are, and paths never as options', async () => {
    const hostile = '$(touch pwned)`touch pwned`; touch pwned "\' *'
    const { status, lines } = start({
      PRESET: 'strict',
      CONFIG: hostile,
      SARIF: 'a b.sarif',
      MAX_WARNINGS: '0',
      BASELINE: 'b',
      PATHS: `items/**\n\n--fix\n${hostile}\n`,
    })
    const quoted = spawnSync('bash', ['-c', 'printf "%q" "$1"', '-', hostile], { encoding: 'utf8' }).stdout
    expect(status).toBe(0)
    expect(lines.slice(4)).toEqual([
      '--preset=strict',
      `--config=${quoted}`,
      '--baseline=b',
      '--max-warnings=0',
      '--format=sarif=a\\ b.sarif',
      '--',
      'items/\\*\\*',
      '--fix',
      quoted,
    ])
    expect(await readdir(folder)).not.toContain('pwned')
  })

  it('removes the spaces around a path, but not those in it', () => {
    expect(start({ PATHS: 'catalog/\n  more items/a.json \n  \n' }).lines.slice(4)).toEqual(['--', 'catalog/', 'more\\ items/a.json'])
  })

  it.each<[string, Readonly<Record<string, string>>]>([
    ['no folder', {}],
    ['an empty folder', { GITHUB_ACTION_PATH: temporary }],
  ])('runs nothing when %s is given as its own', (_name, env) => {
    expect(start({}, { env })).toMatchObject({ status: 2, lines: [expect.stringContaining('::error')] })
  })

  it('puts no input into its script, and each one into a variable', () => {
    expect(script).not.toContain('${{')
    const declared = [...action.matchAll(/^ {2}([a-z-]+):\n {4}description/gm)].map(([, name]) => name)
    expect(declared.length).toBeGreaterThan(5)
    for (const name of declared) expect(action).toContain(`: \${{ inputs.${name} }}`)
  })

  it('lints for real, with nothing of a checkout that has a program, settings and packages in every place', async () => {
    const { repository, mark, bin, own } = await hostileCheckout()
    const env = { GITHUB_ACTION_PATH: own, HOME: join(folder, 'home') }
    const outcome = start({ SARIF: 'lint.sarif' }, { cwd: repository, path: `${bin}:/usr/bin:/bin`, env })
    expect(outcome).toMatchObject({ status: 1, stderr: '' })
    expect(outcome.lines.join('\n')).toMatch(/^::error .*file=item\.json.*dangling-ref/m)
    expect(JSON.parse(readFileSync(join(repository, 'lint.sarif'), 'utf8')).runs[0].results[0].ruleId).toBe('dangling-ref')
    expect(existsSync(mark)).toBe(false)
    expect(await readdir(temporary)).toEqual([])
    // Both commands of npm in the copy, outside of the checkout, and without install scripts.
    const [install = '', build = ''] = readFileSync(join(folder, 'npm-calls'), 'utf8').trimEnd().split('\n')
    const [, place = ''] = /^(\S+) ci --prefix \1 --ignore-scripts /.exec(install) ?? []
    expect([place.startsWith(temporary), build]).toEqual([true, `${place} run --prefix ${place} --silent build`])
  })

  it('fails with what npm says when its program cannot be built, and runs nothing else', async () => {
    const { repository, mark, bin, own } = await hostileCheckout()
    await executable(join(bin, 'npm'), '#!/bin/sh\necho "npm error: no network"\nexit 1\n')
    const outcome = start({}, { cwd: repository, path: `${bin}:/usr/bin:/bin`, env: { GITHUB_ACTION_PATH: own } })
    expect(outcome).toMatchObject({ status: 2, stderr: 'npm error: no network\nstac-auth cannot be built: npm failed, see above\n' })
    expect(existsSync(mark)).toBe(false)
  })

  it('only gives options that the command has', async () => {
    const { stdout } = await run(['lint', '--help'])
    for (const [, option] of script.matchAll(/[("](--[a-z-]+)=/g)) expect(stdout).toContain(option)
  })
})

/**
 * A repository that brings a program of this name and settings of npm that lead to it, beside a checkout of the action whose `npm` has what
 * the real one would install and build.
 */
async function hostileCheckout() {
  const base = await mkdtemp(join(folder, 'hostile-'))
  const [repository, bin, mark] = [join(base, 'repository'), join(base, 'bin'), join(base, 'ran')]
  const evil = `#!/usr/bin/env node\nrequire('fs').writeFileSync(${JSON.stringify(mark)}, '')\n`
  const own = await checkout(`${base.slice(folder.length + 1)}/own`, readFileSync(join(root, 'scripts/from-checkout.sh'), 'utf8'))
  await copyFile(join(root, 'package.json'), join(own, 'package.json'))
  for (const packed of ['stac-auth', 'tldts', 'picomatch', 'hyparquet']) {
    await mkdir(join(repository, 'node_modules', packed), { recursive: true })
    await executable(join(repository, 'node_modules', packed, 'index.js'), evil)
    await writeFile(join(repository, 'node_modules', packed, 'package.json'), `{"name":"${packed}","version":"0.1.0","bin":"index.js"}`)
  }
  await mkdir(join(repository, 'node_modules/.bin'))
  for (const name of ['stac-auth', 'node', 'npm', 'npx', 'tar', 'git']) {
    await symlink('../stac-auth/index.js', join(repository, 'node_modules/.bin', name))
    await executable(join(repository, name), evil)
  }
  await executable(join(repository, 'evil.js'), evil)
  const npmrc = ['registry=http://127.0.0.1:1/', 'node-options=--require ./evil.js', 'script-shell=./evil.js', 'git=./evil.js', '']
  await writeFile(join(repository, '.npmrc'), npmrc.join('\n'))
  const manifest = {
    name: 'c',
    version: '1.0.0',
    workspaces: ['*'],
    overrides: { undici: 'file:evil' },
    scripts: { preinstall: './evil.js' },
  }
  await writeFile(join(repository, 'package.json'), JSON.stringify(manifest))
  await writeFile(
    join(repository, 'item.json'),
    JSON.stringify(itemWith({ data: { href: 'https://data.example/f', 'auth:refs': ['gone'] } })),
  )
  await mkdir(bin)
  await symlink(process.execPath, join(bin, 'node'))
  const links = ['dist', 'node_modules'].map((name) => `ln -sfn "${join(root, name)}" "${name}"`).join('\n')
  await executable(join(bin, 'npm'), `#!/bin/sh\necho "$PWD $*" >> "${join(folder, 'npm-calls')}"\n${links}\n`)
  return { repository, bin, mark, own }
}

describe('the hooks of pre-commit', () => {
  const hooks = readFileSync(new URL('../../.pre-commit-hooks.yaml', import.meta.url), 'utf8')

  it('the hooks of pre-commit end options before file names', () => {
    expect(hooks.match(/^ {2}args: \['--'\]$/gm)).toHaveLength(hooks.match(/^- id:/gm)?.length ?? 0)
  })

  it('the hooks of pre-commit name commands that there are', async () => {
    const { stdout } = await run(['lint', '--help'])
    const entries = [...hooks.matchAll(/^ {2}entry: stac-auth lint ?(--\S+)?$/gm)].map(([, option = '--format']) => option)
    expect(entries).toHaveLength(3)
    for (const option of entries) expect(stdout).toContain(option)
  })
})
