import { PassThrough } from 'node:stream'
import type { Command } from 'commander'
import { expect, it } from 'vitest'
import { wholeProgram } from '../../src/cli/program.ts'
import { run } from './run.ts'

const io = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough(), env: {}, signal: new AbortController().signal }
const silent = { error: async () => {}, warn: () => {}, note: async () => {} }
const program = await wholeProgram({ io, diagnostics: silent, run: () => async () => {} })
const commands = [program, ...below(program)]

function below(command: Command): Command[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .flatMap((one) => (one.name() === 'help' ? [] : [one, ...below(one)]))
}

function nameOf(command: Command): string {
  return command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name()
}

it.each(commands.map((command) => [nameOf(command)]))('%s has examples that are its own', async (name) => {
  const { stdout } = await run([...name.split(' ').slice(1), '--help'])
  const [, examples = ''] = stdout.split('\nExamples:\n')
  expect(examples, 'add some in src/cli/help/examples.ts').toContain(name)
})

it('shows options in groups, with examples at the end', async () => {
  const { stdout } = await run(['authorize', '--help'])
  expect(stdout.match(/^\S.*:$/gm)).toEqual(['Target:', 'Several targets, with --as ndjson:', 'Credentials:', 'Options:', 'Examples:'])
  expect(stdout).toMatch(/\n {2}stac-auth authorize item\.json --asset B04 --as curl --reveal \| sh > B04\.tif\n/)
})

it('shows commands in groups, and hides the one that scripts of shells call', async () => {
  const { stdout } = await run(['help'])
  for (const heading of ['Protected assets:', 'Credentials:', 'Checks of documents:', 'Help:', 'Exit codes:', 'Environment:'])
    expect(stdout).toContain(`\n${heading}\n`)
  expect(stdout).not.toMatch(/^Commands:$|^ {2}complete /m)
})
