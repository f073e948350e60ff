import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../cli/folder.ts'
import { run } from '../cli/run.ts'

const action = readFileSync(new URL('../../action.yml', import.meta.url), 'utf8')
const [, indented = ''] = /\n {6}run: \|\n([\s\S]*)$/.exec(action) ?? []
const script = indented.replace(/^ {8}/gm, '')
const folder = await temporaryFolder()

/** Stands for `npx`: prints its arguments, one on each line, with line feeds written out. */
async function fakeNpx(): Promise<string> {
  const bin = join(folder, 'bin')
  await mkdir(bin, { recursive: true })
  await writeFile(join(bin, 'npx'), '#!/bin/bash\nfor argument in "$@"; do printf "%q\\n" "$argument"; done\n')
  await chmod(join(bin, 'npx'), 0o755)
  return bin
}

const bin = await fakeNpx()
const NONE = { PRESET: '', CONFIG: '', BASELINE: '', MAX_WARNINGS: '', SARIF: '', FAIL_SEVERITY: 'error', VERSION: 'latest', PATHS: '.' }

function start(inputs: Partial<typeof NONE>) {
  const named = Object.entries({ ...NONE, ...inputs }).map(([name, value]) => [`LINT_${name}`, value])
  const env = { PATH: `${bin}:/usr/bin:/bin`, GITHUB_STEP_SUMMARY: '/tmp/summary file', ...Object.fromEntries(named) }
  const { status, stdout } = spawnSync('bash', ['-c', script], { cwd: folder, env, encoding: 'utf8' })
  return { status, lines: stdout.trimEnd().split('\n') }
}

describe('the GitHub action', () => {
  it('runs the published package with annotations and a summary', () => {
    expect(start({})).toEqual({
      status: 0,
      lines: [
        '--yes',
        'stac-auth@latest',
        'lint',
        '--format=github',
        '--format=markdown=/tmp/summary\\ file',
        '--fail-severity=error',
        '--',
        '.',
      ],
    })
  })

  it('passes its inputs on as they are, and paths never as options', () => {
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
    expect(lines.slice(6)).toEqual([
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
    expect(spawnSync('ls', [folder], { encoding: 'utf8' }).stdout).toBe('bin\n')
  })

  it('removes the spaces around a path, but not those in it', () => {
    expect(start({ PATHS: 'catalog/\n  more items/a.json \n  \n' }).lines.slice(6)).toEqual(['--', 'catalog/', 'more\\ items/a.json'])
  })

  it.each(['', 'npm:other@1', 'file:../x', '1.0.0 --registry=x', '-x'])('refuses %j as a version', (VERSION) => {
    expect(start({ VERSION })).toMatchObject({ status: 2, lines: [expect.stringContaining('::error')] })
  })

  it('puts no input into its script, and each one into a variable', () => {
    expect(script).not.toContain('${{')
    const declared = [...action.matchAll(/^ {2}([a-z-]+):\n {4}description/gm)].map(([, name]) => name)
    expect(declared.length).toBeGreaterThan(5)
    for (const name of declared) expect(action).toContain(`: \${{ inputs.${name} }}`)
  })

  it('only gives options that the command has', async () => {
    const { stdout } = await run(['lint', '--help'])
    for (const [, option] of script.matchAll(/(--[a-z-]+)=/g)) expect(stdout).toContain(option)
  })
})

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
