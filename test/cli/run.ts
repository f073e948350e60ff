/** Runs the command line in this process, with streams that remember. */
import { PassThrough, Readable, Writable } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { main } from '../../src/cli/main.ts'
import { afterEveryFile } from '../setup/hooks.ts'
import { whileWriting } from '../setup/observed-calls.ts'
import { mustHoldNoSecret } from '../setup/revealed-secrets.ts'
import { undocumentedJson } from './documented-json.ts'
import { temporaryFolder } from './folder.ts'

/** The token store of the commands of one test file. */
let cache: string | undefined
afterEveryFile(() => {
  cache = undefined
})

export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  readonly bytes: Buffer
}

export interface Surroundings {
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string | Uint8Array | Readable
  readonly signal?: AbortSignal
  readonly isTTY?: boolean
  readonly stdout?: Writable
  /** Hears what goes to stderr, at once. */
  readonly onError?: (text: string) => void
}

/** Runs one command with an empty environment but a cache of its own. */
export async function run(argv: readonly string[], around: Surroundings = {}): Promise<Outcome> {
  cache ??= await temporaryFolder()
  const stdout = around.stdout ?? recorder()
  const stderr = recorder(around.onError)
  const stdin = around.stdin instanceof Readable ? around.stdin : new PassThrough().end(around.stdin ?? '')
  const io = {
    stdin: Object.assign(stdin, { isTTY: around.isTTY ?? false }),
    stdout: Object.assign(stdout, { isTTY: around.isTTY ?? false }),
    stderr: Object.assign(stderr, { isTTY: around.isTTY ?? false }),
    env: { XDG_CACHE_HOME: cache, ...around.env },
    signal: around.signal ?? new AbortController().signal,
  }
  const code = await whileWriting(() => main(argv, io)).finally(asBefore)
  const bytes = stdout instanceof Recorder ? stdout.bytes : Buffer.alloc(0)
  const outcome = { code, bytes, stdout: bytes.toString(), stderr: stderr.bytes.toString() }
  mustHoldNoSecret(`stderr of ${argv[0]}`, outcome.stderr)
  if (!argv.some((argument) => ASKS_FOR_SECRETS.has(argument))) mustHoldNoSecret(`stdout of ${argv[0]}`, outcome.stdout)
  const differing = undocumentedJson(argv, outcome.stdout)
  if (differing.length > 0)
    throw new Error(`the output of ${argv.join(' ')} is not that of docs/json.md: ${differing.slice(0, 5).join('; ')}`)
  return outcome
}

/** `lint` keeps the memory of its process small; the tests after it share this process, and took twice as long. */
const asBefore = () => setFlagsFromString('--semi-space-growth-factor=2 --no-optimize-for-size')

/** Commands and options that print what the user asked for: an authorized request, a file, what a program of the user prints. */
const ASKS_FOR_SECRETS = new Set(['authorize', 'fetch', 'run', '--reveal'])

/** The last line of stderr as JSON. */
export function lastError({ stderr }: Outcome): Record<string, unknown> {
  return JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '')
}

class Recorder extends Writable {
  readonly #chunks: Buffer[] = []
  readonly #hear: (text: string) => void

  constructor(hear: (text: string) => void) {
    super()
    this.#hear = hear
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, done: () => void): void {
    this.#chunks.push(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : Buffer.from(chunk))
    this.#hear(String(chunk))
    done()
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks)
  }
}

const recorder = (hear: (text: string) => void = () => {}) => new Recorder(hear)
