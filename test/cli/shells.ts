/** A user at the prompt of a shell that completes `stac-auth`. */
import { execFile } from 'node:child_process'
import { mkdir, readdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { put, temporaryFolder } from './folder.ts'

const [terminal = '', program = ''] = ['at-terminal.py', '../../dist/cli/bin.js'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)

/** How each shell is started, with a prompt that ends in `ready> `, from a folder with its start-up files. */
const STARTED: Readonly<Record<string, { readonly argv: readonly string[]; readonly files: Readonly<Record<string, string>> }>> = {
  bash: {
    argv: ['bash', '--noprofile', '--rcfile', 'rc.bash', '-i'],
    files: { 'rc.bash': `PS1='ready> '; bind 'set enable-bracketed-paste off'; eval "$(stac-auth completion bash)"\n` },
  },
  zsh: {
    argv: ['zsh', '-i'],
    files: { '.zshrc': `PS1='ready> '; autoload -Uz compinit; compinit -u -D; source <(stac-auth completion zsh)\n` },
  },
  fish: {
    argv: ['fish', '-i'],
    files: {
      'fish/config.fish': "function fish_prompt; echo 'ready> '; end; function fish_greeting; end\nstac-auth completion fish | source\n",
    },
  },
}

/** Documents with keys that a shell would obey if they were inserted as they are. */
export const WEIRD = {
  type: 'Feature',
  stac_version: '1.1.0',
  id: 'x',
  geometry: null,
  properties: {},
  links: [],
  assets: Object.fromEntries(
    ['o b;touch pwned', "q'uote", '$(touch pwned)', 'new\nline', 'a:b=c', 'plain'].map((key) => [key, { href: 'https://data.example/f' }]),
  ),
}

/** Types a line, with tabs, and then return; what is on the screen afterwards, and the files in the folder. */
export async function typedAt(shell: string, line: string): Promise<{ readonly screen: string; readonly files: readonly string[] }> {
  const folder = await temporaryFolder()
  await mkdir(join(folder, 'bin'))
  await mkdir(join(folder, 'fish'))
  await symlink(program, join(folder, 'bin', 'stac-auth'))
  const credentials = { version: 1, credentials: [{ id: 'portal', type: 'http', scheme: 'bearer', token: { env: 'X' }, sendTo: [] }] }
  const file = await put(folder, 'credentials.json', credentials)
  await put(folder, 'weird.json', WEIRD)
  const { argv, files } = STARTED[shell] ?? { argv: [], files: {} }
  for (const [name, text] of Object.entries(files)) await put(folder, name, text)
  const env = {
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
    HOME: folder,
    ZDOTDIR: folder,
    XDG_CONFIG_HOME: folder,
    XDG_DATA_HOME: folder,
    XDG_CACHE_HOME: folder,
    TERM: 'xterm',
    LC_ALL: 'C.UTF-8',
    STAC_AUTH_CREDENTIALS: file,
  }
  const steps = [
    ['ready> ', `${line}\r`],
    ['ready> ', 'exit\r'],
  ]
  const screen = await new Promise<string>((resolve) => {
    execFile('python3', [terminal, JSON.stringify(steps), ...argv], { env, cwd: folder }, (_error, stdout) => resolve(stdout))
  })
  return { screen, files: await readdir(folder) }
}

/** What is typed, with a tab, and a text that the command then prints. */
export const COMPLETED: readonly (readonly [typed: string, printed: string])[] = [
  ['stac-auth explain weird.json --json --asset o\t', '"pointer": "/assets/o b;touch pwned"'],
  ['stac-auth explain weird.json --json --asset a\t', '"pointer": "/assets/a:b=c"'],
  ['stac-auth explain weird.json --json --asset "a\t', '"pointer": "/assets/a:b=c"'],
  ['stac-auth explain weird.json --json --asset q\t', `"pointer": "/assets/q'uote"`],
  ['stac-auth explain weird.json --json --asset=pl\t', '"pointer": "/assets/plain"'],
  ['stac-auth expl\tweird.json --js\t--asset \\$\t', '"pointer": "/assets/$(touch pwned)"'],
  ['stac-auth explain we\t--json --asset pl\t', '"pointer": "/assets/plain"'],
  ['stac-auth logout po\t', '"portal" needs no login'],
  ['stac-auth authorize weird.json --asset pl\t--as=cur\t', 'curl --globoff'],
]
