/** Downloads by several workers through a queue: the processes, and what can be checked afterwards. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export const BIN = fileURLToPath(new URL('../../../dist/cli/bin.js', import.meta.url))
const SERVER = fileURLToPath(new URL('./archive-server.ts', import.meta.url))
const KEY = 'archive-key'

const EXTENSIONS = ['https://stac-extensions.github.io/authentication/v1.1.0/schema.json']

const SCHEMES = { key: { type: 'apiKey', in: 'header', name: 'x-api-key' } }

/** What the archive has counted. */
export interface ArchiveCounts {
  readonly requests: number
  readonly bytes: number
  readonly refused: number
  /** Most concurrent requests since the last look. */
  readonly most: number
  readonly ranges: number
  /** First byte of the latest response. */
  readonly start: number
}

/** A number of files of one size. */
export interface FileGroup {
  readonly count: number
  readonly size: number
  /** True for names whose extension only the server knows, in items of one FeatureCollection that has the schemes. */
  readonly isCollected?: boolean
}

export interface Archive {
  readonly origin: string
  counts(): Promise<ArchiveCounts>
  stop(): Promise<void>
}

/** @param bytesPerSecond bytes per second of each response; 0 for no limit */
export async function startArchive(bytesPerSecond = 0): Promise<Archive> {
  const child = spawn(process.execPath, ['--import', 'tsx', SERVER, KEY, String(bytesPerSecond)], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })
  const { port } = JSON.parse(await lineOf(lines))
  return {
    origin: `http://127.0.0.1:${port}`,
    counts: async () => {
      const line = lineOf(lines)
      child.stdin.write('\n')
      return JSON.parse(await line)
    },
    stop: async () => {
      child.stdin.end()
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}

async function lineOf(lines: Interface): Promise<string> {
  const [line] = await once(lines, 'line')
  return line
}

/** The commands of one download, in a folder of their own. */
export class QueueLoad {
  readonly folder: string
  readonly #archive: Archive
  readonly #inputs: string
  readonly #env: NodeJS.ProcessEnv
  readonly #workers: ChildProcess[] = []

  private constructor(folder: string, archive: Archive, queue: string) {
    this.folder = folder
    this.#archive = archive
    this.#inputs = join(folder, 'items.ndjson')
    this.#env = {
      PATH: process.env.PATH,
      HOME: folder,
      STAC_AUTH_QUEUE: queue,
      STAC_AUTH_CREDENTIALS: join(folder, 'credentials.json'),
    }
  }

  /**
   * Writes the items and the credentials.
   *
   * @param environment variables of the processes, such as the keys of a bucket
   */
  static async prepare(
    folder: string,
    archive: Archive,
    queue: string,
    groups: readonly FileGroup[],
    environment: NodeJS.ProcessEnv = {},
  ): Promise<QueueLoad> {
    const load = new QueueLoad(folder, archive, queue)
    Object.assign(load.#env, environment)
    const credential = {
      id: 'archive',
      type: 'apiKey',
      in: 'header',
      name: 'x-api-key',
      value: { env: 'ARCHIVE_KEY' },
      sendTo: [`${archive.origin}/`],
    }
    await writeFile(join(folder, 'credentials.json'), JSON.stringify({ version: 1, credentials: [credential] }), { mode: 0o600 })
    load.#env.ARCHIVE_KEY = KEY
    const documents = groups.flatMap(({ count, size, isCollected = false }): readonly object[] => {
      const items = Array.from({ length: Math.ceil(count / 10) }, (_, index) => load.#item(index, { count, size, isCollected }))
      return isCollected ? [{ type: 'FeatureCollection', stac_extensions: EXTENSIONS, 'auth:schemes': SCHEMES, features: items }] : items
    })
    await writeFile(load.#inputs, documents.map((document) => `${JSON.stringify(document)}\n`).join(''))
    return load
  }

  #item(index: number, { count, size, isCollected }: FileGroup) {
    const numbers = Array.from({ length: Math.min(10, count - index * 10) }, (_, at) => index * 10 + at)
    const asset = (number: number) => ({
      href: `${this.#archive.origin}/${size}/${isCollected ? 'g' : 'f'}${number}`,
      ...(!isCollected && { type: 'application/x-hdf5' }),
      'auth:refs': ['key'],
    })
    return {
      type: 'Feature',
      stac_version: '1.1.0',
      stac_extensions: EXTENSIONS,
      id: `s${size}-${index}`,
      geometry: null,
      properties: { datetime: '2026-01-01T00:00:00Z', ...(!isCollected && { 'auth:schemes': SCHEMES }) },
      links: [],
      assets: Object.fromEntries(numbers.map((number) => [`f${number}`, asset(number)])),
    }
  }

  /** Starts `worker` and waits until it takes jobs. */
  async startWorker(target: string, ...argv: readonly string[]): Promise<ChildProcess> {
    const out = this.#outOf(target)
    const child = spawn(process.execPath, [BIN, 'queue', 'work', '-d', out, ...argv], {
      env: this.#env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    this.#workers.push(child)
    const [text] = await once(child.stderr as NonNullable<ChildProcess['stderr']>, 'data')
    if (!String(text).startsWith('waiting for downloads')) throw new Error(String(text))
    child.stderr?.on('data', (more) => process.env.QUEUE_LOAD_VERBOSE && process.stderr.write(more))
    return child
  }

  /** Runs `download` to its end. */
  async download(
    target: string,
    ...argv: readonly string[]
  ): Promise<{ code: number | null; stdout: string; stderr: string; seconds: number }> {
    const out = this.#outOf(target)
    const manifest = this.#manifestOf(target)
    const began = Date.now()
    const all = [BIN, 'download', this.#inputs, '-d', out, '--manifest', manifest, ...argv]
    const child = spawn(process.execPath, all, { env: this.#env, stdio: ['ignore', 'pipe', 'pipe'] })
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (text) => {
      stdout += text
    })
    child.stderr.on('data', (text) => {
      stderr += text
    })
    const [code] = await once(child, 'close')
    return { code, stdout, stderr, seconds: (Date.now() - began) / 1000 }
  }

  /** A target is the name of a folder, or the URL of a bucket. */
  #outOf(target: string): string {
    return target.startsWith('s3://') ? target : join(this.folder, target)
  }

  #manifestOf(target: string): string {
    return join(this.folder, `${target.replace(/[^a-z0-9]+/gi, '-')}.ndjson`)
  }

  /** Runs another command. */
  async run(...argv: readonly string[]): Promise<string> {
    const child = spawn(process.execPath, [BIN, ...argv], { env: this.#env, stdio: ['ignore', 'pipe', 'inherit'] })
    let stdout = ''
    child.stdout.on('data', (text) => {
      stdout += text
    })
    await once(child, 'close')
    return stdout
  }

  /** Returns the lines of the manifest in the order of their paths, without the time of completion. */
  async manifest(target: string): Promise<readonly string[]> {
    const text = await readFile(this.#manifestOf(target), 'utf8')
    return text
      .trim()
      .split('\n')
      .map((line) => line.replace(/,"time":"[^"]*"/, ''))
      .sort()
  }

  /** Compares every file with its line in the manifest and returns what is wrong, also files that are left over. */
  async problems(target: string): Promise<readonly string[]> {
    const entries = new Map((await this.manifest(target)).slice(0).flatMap((line) => entryIn(line)))
    const out = join(this.folder, target)
    const found = (await readdir(out, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
    const problems: string[] = []
    for (const { parentPath, name } of found) {
      if (name.startsWith('.stac-auth-')) continue
      const path = join(parentPath, name).slice(out.length + 1)
      const sha256 = entries.get(path)
      entries.delete(path)
      if (sha256 === undefined) problems.push(`left over: ${path}`)
      else if ((await digestOf(join(parentPath, name))) !== sha256) problems.push(`wrong: ${path}`)
    }
    return [...problems, ...[...entries.keys()].map((path) => `missing: ${path}`)]
  }

  async stop(): Promise<void> {
    for (const child of this.#workers.splice(0)) await ended(child, 'SIGKILL')
  }
}

/** Ends a process. */
export async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill(signal)
  await once(child, 'exit')
}

function entryIn(line: string): readonly (readonly [string, string])[] {
  const { path, sha256 } = JSON.parse(line)
  return path === undefined ? [] : [[path, sha256]]
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk)
  return hash.digest('hex')
}

/** The resident memory of a process in bytes. */
export async function memoryOf({ pid }: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024
}
