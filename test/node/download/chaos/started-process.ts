/** Starts `download-process.ts`, limited or not. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Cost, Work } from './download-process.ts'

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** What it printed. */
  readonly lines: readonly Readonly<Record<string, unknown>>[]
  /** Codes of the files that failed. */
  readonly codes: readonly string[]
  readonly summary: Readonly<Record<string, unknown>> | undefined
  readonly cost: Cost | undefined
  readonly stderr: string
}

export interface StartedProcess {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
}

export interface Limits {
  /** Commands of a shell before it starts, such as `ulimit -n 64`. */
  readonly before?: string
}

export interface ProcessStarter {
  start(work: Work, limits?: Limits): StartedProcess
  /** Removes what was compiled. */
  remove(): Promise<void>
}

/** Compiles the program once. */
export async function processStarter(): Promise<ProcessStarter> {
  const folder = await mkdtemp(join(tmpdir(), 'stac-auth-process-'))
  const here = dirname(fileURLToPath(import.meta.url))
  await build({
    entryPoints: [join(here, 'download-process.ts')],
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    alias: { '#platform': join(here, '../../../../src/platform/node.ts') },
    // Packages that are no modules ask for others by `require`.
    banner: { js: "import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)" },
    logLevel: 'error',
  })
  return {
    start: (work, limits) => started(join(folder, 'download-process.mjs'), work, limits),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

function started(script: string, work: Work, { before }: Limits = {}): StartedProcess {
  const command = [process.execPath, script, JSON.stringify(work)] as const
  const [program, ...rest] = before === undefined ? command : ['/bin/sh', '-c', `${before} && exec "$@"`, 'sh', ...command]
  const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'pipe'] })
  return { child, ended: endOf(child) }
}

async function endOf(child: ReturnType<typeof spawn>): Promise<Ended> {
  const lines: Record<string, unknown>[] = []
  let stderr = ''
  child.stderr?.on('data', (text) => {
    stderr += text
  })
  if (child.stdout) createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line)))
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  return {
    code,
    signal,
    lines,
    codes: lines.filter(({ kind }) => kind === 'failed').map(({ error }) => String((error as { code: string }).code)),
    summary: lines.find(({ kind }) => kind === 'summary'),
    cost: lines.find(({ kind }) => kind === 'cost') as Cost | undefined,
    stderr,
  }
}
