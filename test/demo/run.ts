/** Runs a script of the demo in a process of its own, where the package is the built one. */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

export interface Run {
  readonly process: ChildProcess
  /** Everything written so far. */
  text(): string
  /** The exit code, or the name of the signal that ended it. */
  readonly ended: Promise<number | string>
}

/** Starts `node` with the TypeScript loader on a path below the project's root, without the environment's proxies. */
export function start(script: string, ...argv: readonly string[]): Run {
  return run(['--import', 'tsx', script, ...argv])
}

/** Starts the built command line. */
export function startCommand(env: Readonly<Record<string, string>>, ...argv: readonly string[]): Run {
  return run(['dist/cli/bin.js', ...argv], env)
}

function run(argv: readonly string[], more: Readonly<Record<string, string>> = {}): Run {
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, ...more }
  const child = spawn(process.execPath, argv, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const pieces: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => pieces.push(piece))
  const ended = new Promise<number | string>((resolve) => child.on('close', (code, signal) => resolve(code ?? signal ?? '')))
  return { process: child, text: () => Buffer.concat(pieces).toString(), ended }
}
