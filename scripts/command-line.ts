/** The command line of our scripts: what a script does not know ends it with one line on stderr and exit code 2, before it does anything. */
import { type ParseArgsConfig, parseArgs } from 'node:util'

type Options = NonNullable<ParseArgsConfig['options']>
type Parsed<O extends Options> = ReturnType<typeof parseArgs<{ options: O; allowPositionals: true }>>

/** Returns the options and names of a command line; `usage` stands behind what is said of a wrong option. */
export function commandLine<const O extends Options>(usage: string, options: O, args = process.argv.slice(2)): Parsed<O> {
  try {
    return parseArgs({ options, allowPositionals: true, args })
  } catch (error) {
    // What Node adds is about words that begin with a dash, which no script of ours takes.
    const [what = ''] = (error as Error).message.split(/\.?\n|\. |\.$/)
    refuse(`${what}. Usage: ${usage}`)
  }
}

/** Refuses every argument, for a script that takes none. */
export function refuseArguments(usage: string, args = process.argv.slice(2)): void {
  const { positionals } = commandLine(usage, {}, args)
  if (positionals.length > 0) refuse(`unknown argument: ${positionals.join(', ')}. Usage: ${usage}`)
}

/** Refuses names that are not in a list: `unknown part: fuz. Parts: tests, fuzz`. */
export function refuseUnknown(kind: string, names: readonly string[], known: readonly string[]): void {
  const unknown = names.filter((name) => !known.includes(name))
  const title = `${kind[0]?.toUpperCase()}${kind.slice(1)}s`
  if (unknown.length > 0) refuse(`unknown ${kind}: ${unknown.join(', ')}. ${title}: ${known.join(', ')}`)
}

/** Ends the script. */
export function refuse(line: string): never {
  console.error(line)
  process.exit(2)
}
