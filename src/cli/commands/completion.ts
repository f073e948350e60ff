import { Argument, type Command } from 'commander'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-code.ts'
import { bashLines, bashWords, describedLines, SCRIPTS, SHELLS, type Shell } from '../help/completion.ts'
import { write } from '../io.ts'

/** `completion SHELL`: prints the script that a shell evaluates; and `complete`, which that script calls. */
export function addCompletion(program: Command, context: Context): void {
  const shell = () => new Argument('<shell>', 'the shell').choices(SHELLS)
  program
    .command('completion')
    .description('print a script that completes commands, options and asset keys in a shell')
    .addArgument(shell())
    .action(
      context.run(async (name: Shell) => {
        await write(context.io.stdout, SCRIPTS[name])
        return EXIT.done
      }),
    )
  program
    .command('complete', { hidden: true })
    .addArgument(shell())
    .argument('[words...]')
    .action(
      context.run(async (name: Shell, words: readonly string[]) => {
        const { candidatesFor } = await import('../help/candidates.ts')
        const line = name === 'bash' ? bashWords(words[0] ?? '') : { words, typed: '' }
        const candidates = await candidatesFor(program, line.words, context)
        await write(context.io.stdout, name === 'bash' ? bashLines(candidates, line.typed, words[1] ?? '') : describedLines(candidates))
        return EXIT.done
      }),
    )
}
