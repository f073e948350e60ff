import { Argument, type Command } from 'commander'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-code.ts'
import type { Candidate } from '../help/candidates.ts'
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

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

/** The script that a shell evaluates. Where there are no candidates, it completes file names. */
const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# bash completion for stac-auth: add to ~/.bashrc
#   eval "$(stac-auth completion bash)"
_stac_auth() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done < <(stac-auth complete bash -- "\${COMP_LINE:0:COMP_POINT}" "\${COMP_WORDS[COMP_CWORD]}" 2>/dev/null)
  [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *= ]] && compopt -o nospace
  return 0
}
complete -o bashdefault -o default -F _stac_auth stac-auth
`,
  zsh: `#compdef stac-auth
# zsh completion for stac-auth: write to a file _stac-auth in a folder of $fpath, or add to ~/.zshrc after compinit
#   source <(stac-auth completion zsh)
_stac_auth() {
  local line
  local -a values shown open_values open_shown
  for line in "\${(@f)$(stac-auth complete zsh -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}"; do
    [[ -n $line ]] || continue
    if [[ \${line%%$'\\t'*} == *= ]]; then
      open_values+=("\${line%%$'\\t'*}") open_shown+=("\${line/$'\\t'/  -- }")
    else
      values+=("\${line%%$'\\t'*}") shown+=("\${line/$'\\t'/  -- }")
    fi
  done
  if (( \${#values} + \${#open_values} )); then
    (( \${#values} )) && compadd -l -d shown -a -- values
    (( \${#open_values} )) && compadd -l -S '' -d open_shown -a -- open_values
    return 0
  fi
  _files
}
if [[ \${funcstack[1]} == _stac_auth ]]; then
  _stac_auth "$@"
else
  compdef _stac_auth stac-auth
fi
`,
  fish: `# fish completion for stac-auth: write to ~/.config/fish/completions/stac-auth.fish
function __stac_auth_complete
    set -l tokens (commandline -opc)
    set -e tokens[1]
    set -l lines (stac-auth complete fish -- $tokens (string unescape -- (commandline -ct); or commandline -ct) 2>/dev/null)
    if test (count $lines) -gt 0
        printf '%s\\n' $lines
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c stac-auth -f -a '(__stac_auth_complete)'
`,
}

/** Formats candidates for zsh and fish, which quote them: value, tab, description. */
function describedLines(candidates: readonly Candidate[]): string {
  return candidates.map(({ value, description }) => `${description === '' ? value : `${value}\t${description}`}\n`).join('')
}

/** A command line of bash as words. The last one is the one that is completed. */
interface BashWords {
  readonly words: readonly string[]
  /** The last word as typed, with its quotes. */
  readonly typed: string
}

/** Splits a line of bash up to the cursor into the words after `stac-auth`; a quote may be open at its end. */
function bashWords(line: string): BashWords {
  const words: string[] = []
  let typed = ''
  for (const [raw] of line.matchAll(/(?:\\.|'[^']*(?:'|$)|"(?:[^"\\]|\\.)*(?:"|$)|[^\s'"\\]|\\$)+|\s+$/gs)) {
    typed = raw.trim() === '' ? '' : raw
    words.push(unquoted(typed))
  }
  const start = words.findIndex((word) => /(?:^|\/)stac-auth$/.test(word))
  return { words: words.slice(start + 1), typed }
}

function unquoted(raw: string): string {
  return raw.replace(
    /\\(.)|'([^']*)'?|"((?:[^"\\]|\\.)*)"?/gs,
    (_all, escaped?: string, single?: string, double?: string) => escaped ?? single ?? (double ?? '').replace(/\\(["\\$`])/g, '$1'),
  )
}

/**
 * Formats candidates for bash, which inserts them as they are in place of `part`, the last word after its last `=` or `:`. In an open quote the text
 * stays as it is, and candidates that would end the quote are left out.
 */
function bashLines(candidates: readonly Candidate[], typed: string, part: string): string {
  const replaced = /^[=:]+$/.test(part) ? '' : part
  const before = typed.endsWith(replaced) ? typed.slice(0, typed.length - replaced.length) : ''
  const quote = /^["']/.exec(replaced)?.[0]
  const texts = candidates.map(({ value }) => {
    if (quote === undefined) return value.replace(/[^\w@%+=:,./-]/gu, '\\$&')
    return quote === "'" ? (value.includes("'") ? '' : value) : /["$`\\!]/.test(value) ? '' : value
  })
  return texts.flatMap((text) => (text !== '' && text.startsWith(before) ? [`${text.slice(before.length)}\n`] : [])).join('')
}
