/** The commands with their options and examples, for the pages that are generated from them. */
import { PassThrough } from 'node:stream'
import type { Command, Option } from 'commander'
import { wholeProgram } from '../dist/cli/program.js'

export { examplesOf } from '../src/cli/help/examples.ts'

const io = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough(), env: {}, signal: new AbortController().signal }
const nothing = { error: async () => {}, warn: () => {}, note: async () => {} }

export const program = await wholeProgram({ io, diagnostics: nothing, run: () => async () => {} })
export const help = program.createHelp()
export const commands: readonly Command[] = help.visibleCommands(program).filter((command) => command.name() !== 'help')

/** All commands below a command, each before its own. */
export function subcommands(command: Command): readonly Command[] {
  return command.commands.flatMap((below) => [below, ...subcommands(below)])
}

/** A command that only groups others has no action of its own. */
export function isRunnable(command: Command): boolean {
  return command.commands.length === 0 || command.registeredArguments.length > 0
}

/** The options of a command, and those of the command above that its help shows. */
export function optionsOf(command: Command): readonly Option[] {
  return [...help.visibleOptions(command), ...command.createHelp().visibleGlobalOptions(command)]
}

export function nameOf(command: Command): string {
  return command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name()
}

/** Returns the items by heading, in their order. */
export function groups<T>(items: readonly T[], headingOf: (item: T) => string): [heading: string, items: T[]][] {
  const found = new Map<string, T[]>()
  for (const item of items) found.set(headingOf(item), [...(found.get(headingOf(item)) ?? []), item])
  return [...found]
}
