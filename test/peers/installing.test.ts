/**
 * Each documented way to get the program before it is published, by the real npm and pre-commit: from a repository with the files of this one
 * and a tag of its version, in an empty home.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { packInto } from '../../scripts/package.ts'
import { root } from '../architecture/files.ts'
import { itemWith } from '../cli/items.ts'

const PRE_COMMIT = '/usr/bin/pre-commit'
const required = process.env.PEERS === 'required'
const { version } = JSON.parse(await readFile(`${root}package.json`, 'utf8'))
const TAG = `v${version}`
const base = await mkdtemp(join(tmpdir(), 'stac-auth-installing-'))
const repository = join(base, 'repository')
afterAll(() => rm(base, { recursive: true, force: true }))

interface Place {
  readonly folder: string
  readonly run: (command: string, env?: NodeJS.ProcessEnv) => Promise<{ code: number; stdout: string; stderr: string }>
}

const { stdout: cache } = await promisify(execFile)('npm', ['config', 'get', 'cache'])
const user = { GIT_AUTHOR_NAME: 't', GIT_AUTHOR_EMAIL: 't@t.example', GIT_COMMITTER_NAME: 't', GIT_COMMITTER_EMAIL: 't@t.example' }

/** An empty folder, and in it a home of its own. Only the packages that npm has already are shared. */
async function place(name: string): Promise<Place> {
  const [folder, HOME] = [join(base, name), join(base, `${name}-home`)]
  await mkdir(folder)
  await mkdir(HOME)
  const own = { PATH: process.env.PATH, HOME, ...user, npm_config_cache: cache.trim(), npm_config_prefer_offline: 'true' }
  return {
    folder,
    run: (command, env) =>
      new Promise((resolve) => {
        execFile('bash', ['-c', command], { cwd: folder, env: { ...own, ...env }, maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
          resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
        )
      }),
  }
}

const item = (ref: string) => JSON.stringify(itemWith({ data: { href: 'https://data.example/f', 'auth:refs': [ref] } }))

/** What is installed lints and can be imported. */
async function expectInstalled({ folder, run }: Place): Promise<void> {
  await writeFile(join(folder, 'item.json'), item('gone'))
  expect(await run('node_modules/.bin/stac-auth --version')).toMatchObject({ code: 0, stdout: `${version}\n` })
  expect(await run('node_modules/.bin/stac-auth lint item.json')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('dangling-ref'),
  })
  const program = `import('stac-auth').then(({ createAuth }) => console.log(typeof createAuth))`
  expect(await run(`node -e "${program}"`)).toMatchObject({ code: 0, stdout: 'function\n' })
}

beforeAll(async () => {
  await mkdir(repository)
  const files = `git ls-files -z --cached --others --exclude-standard | tar --null --ignore-failed-read -T - -cf - | tar -C '${repository}' -xf -`
  await promisify(execFile)('bash', ['-c', files], { cwd: root })
  const { run } = await place('git')
  expect(await run(`cd '${repository}' && git init -q && git add -A && git commit -qm files && git tag ${TAG}`)).toMatchObject({ code: 0 })
})

describe.concurrent('the program before it is published', () => {
  it('is built by npm from a git URL with a tag', { timeout: 900_000 }, async () => {
    const project = await place('git-url')
    await writeFile(join(project.folder, 'package.json'), '{ "private": true }')
    expect(await project.run(`npm install --allow-git=all 'git+${pathToFileURL(repository)}#${TAG}'`)).toMatchObject({ code: 0 })
    await expectInstalled(project)
    expect((await project.run('ls node_modules/stac-auth/dist/man')).stdout).toContain('stac-auth-lint.1')
  })

  it('comes with the packed file', { timeout: 300_000 }, async () => {
    const project = await place('packed')
    const { tarball } = await packInto(project.folder)
    await writeFile(join(project.folder, 'package.json'), '{ "private": true }')
    expect(await project.run(`npm install '${tarball}'`)).toMatchObject({ code: 0 })
    await expectInstalled(project)
  })

  it('is the GitHub action, at the tag of the workflow or at a path', { timeout: 900_000 }, async () => {
    const { folder, run } = await place('action')
    await writeFile(join(folder, 'item.json'), item('gone'))
    await writeFile(join(folder, '.npmrc'), 'registry=http://127.0.0.1:1/\n')
    // Both forms of `uses` give the action a folder with its files: GitHub one outside of the checkout, a path one in it.
    await run(`git clone -q --branch ${TAG} '${repository}' own`)
    const { inputs, runs } = parse(await readFile(join(folder, 'own/action.yml'), 'utf8'))
    const given: Record<string, string> = { sarif: 'lint.sarif', paths: 'item.json' }
    const inputOf = (text: string) => text.replace(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_, name) => given[name] ?? inputs[name].default)
    for (const { run: script, env } of runs.steps) {
      const values = Object.fromEntries(Object.entries<string>(env).map(([name, text]) => [name, inputOf(text)]))
      const github = { GITHUB_ACTION_PATH: join(folder, 'own'), GITHUB_STEP_SUMMARY: join(folder, 'summary.md') }
      expect(await run(script, { ...values, ...github })).toMatchObject({
        code: 1,
        stdout: expect.stringMatching(/^::error .*dangling-ref/m),
      })
    }
    const [{ tool, results }] = JSON.parse(await readFile(join(folder, 'lint.sarif'), 'utf8')).runs
    expect([tool.driver.version, results[0].ruleId]).toEqual([version, 'dangling-ref'])
    expect(await readFile(join(folder, 'summary.md'), 'utf8')).toContain('dangling-ref')
    expect((await run('ls -A own')).stdout).not.toContain('node_modules')
  })

  it.skipIf(!existsSync(PRE_COMMIT) && !required)('is a hook of pre-commit, which lints what is staged', { timeout: 900_000 }, async () => {
    const { folder, run } = await place('hook')
    const hooks = { repos: [{ repo: repository, rev: TAG, hooks: [{ id: 'stac-auth-staged', args: ['--preset=strict', '--'] }] }] }
    await writeFile(join(folder, '.pre-commit-config.yaml'), JSON.stringify(hooks))
    await writeFile(join(folder, '.npmrc'), 'registry=http://127.0.0.1:1/\n')
    await writeFile(join(folder, 'item.json'), item('gone'))
    expect(await run(`git init -q && git add -A && '${PRE_COMMIT}' install --install-hooks`)).toMatchObject({ code: 0 })
    expect(await run('git commit -qm wrong')).toMatchObject({ code: 1, stderr: expect.stringContaining('dangling-ref') })
    await writeFile(join(folder, 'item.json'), item('key'))
    expect(await run('git add -A && git commit -qm right')).toMatchObject({ code: 0, stderr: expect.stringContaining('Passed') })
  })
})
