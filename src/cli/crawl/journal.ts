/** The progress of a crawl in a file, with a line for each finished job, so that an interrupted crawl can resume. */
import { createHash } from 'node:crypto'
import { closeSync, createReadStream, fsyncSync, openSync, truncateSync, writeSync } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import type { Sink, Stored } from '../../crawl/crawl.ts'
import { isAuthError } from '../../errors.ts'
import { readFailure, systemCode, writeFailure, writeFileAtomically } from '../../node/base/index.ts'
import { ownString } from '../../stac/document.ts'
import { usageError } from '../exit-code.ts'
import { linesOf } from '../inputs/lines.ts'
import { jsonIn } from '../read-document.ts'

/** The lines of a run, complete or not. */
interface Run {
  readonly lines: Map<string, string>
  complete: boolean
}

/**
 * Stores results in a file. An incomplete run is resumed; after a complete run every document is requested again, and only
 * changed documents are read.
 */
export class Journal<R> implements Sink<R> {
  readonly #file: number
  readonly #name: string
  readonly #here: Run
  readonly #earlier: Run | undefined

  private constructor(name: string, file: number, here: Run, earlier: Run | undefined) {
    this.#name = name
    this.#file = file
    this.#here = here
    this.#earlier = earlier
  }

  /**
   * Opens or creates the file. Errors: `FILE_ACCESS`, `DISK_FULL`, `USAGE` for the file of another crawl.
   *
   * @param settings all settings that affect results
   */
  static async open<Row>(name: string, settings: unknown): Promise<Journal<Row>> {
    const crawl = createHash('sha256').update(JSON.stringify(settings)).digest('hex')
    const header = `${JSON.stringify({ version: VERSION, crawl })}\n`
    const { runs, length } = await readRuns(name, header.trimEnd())
    const last = runs.at(-1)
    const goesOn = last !== undefined && !last.complete
    const earlier = runs.findLast(({ complete }) => complete)
    try {
      if (earlier && runs.length > 1 && !goesOn) await compact(name, header, earlier)
      // Drops an incomplete last line.
      if (goesOn) truncateSync(name, length)
      const journal = new Journal<Row>(name, openSync(name, 'a', 0o600), goesOn ? last : newRun(), earlier)
      if (!goesOn) journal.#append(header)
      return journal
    } catch (error) {
      throw isAuthError(error) ? error : writeFailure(error, `"${name}"`)
    }
  }

  put(key: string, { outcome, result }: Stored<R>): void {
    this.#append(`${JSON.stringify({ key, outcome, result })}\n`)
  }

  get(key: string): Stored<R> | undefined {
    return stored(this.#here, key)
  }

  earlier(key: string): Stored<R> | undefined {
    return stored(this.#earlier, key)
  }

  /** Marks the run as complete. */
  complete(): void {
    this.#append(`${END}\n`)
    fsyncSync(this.#file)
  }

  close(): void {
    closeSync(this.#file)
  }

  /** Writes synchronously, so that lines survive a crash of the process. */
  #append(line: string): void {
    try {
      for (let bytes = Buffer.from(line); bytes.length > 0; ) bytes = bytes.subarray(writeSync(this.#file, bytes))
    } catch (error) {
      throw writeFailure(error, `"${this.#name}"`)
    }
  }
}

const VERSION = 1
const END = '{"end":true}'

function newRun(): Run {
  return { lines: new Map(), complete: false }
}

function stored<R>(run: Run | undefined, key: string): Stored<R> | undefined {
  const line = run?.lines.get(key)
  return line === undefined ? undefined : (JSON.parse(line) as Stored<R>)
}

/** Reads the runs in a file, and the byte length of its complete lines. Errors: `FILE_ACCESS`, `USAGE` for the file of another crawl. */
async function readRuns(name: string, header: string): Promise<{ runs: readonly Run[]; length: number }> {
  const runs: Run[] = []
  let length = 0
  try {
    const { size } = await stat(name)
    for await (const { bytes } of linesOf(createReadStream(name), Number.MAX_SAFE_INTEGER)) {
      // Text after the last line feed is an interrupted write.
      if (length + bytes.length + 1 > size) break
      length += bytes.length + 1
      const line = Buffer.from(bytes).toString()
      const run = runs.at(-1)
      if (line === header) runs.push(newRun())
      else if (!run) throw foreign(name)
      else if (line === END) run.complete = true
      else run.lines.set(keyIn(line, name), line)
    }
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return { runs, length }
    throw isAuthError(error) ? error : readFailure(error, name)
  }
  return { runs, length }
}

function keyIn(line: string, name: string): string {
  const key = ownString(jsonIn(line), 'key')
  if (key === undefined) throw foreign(name)
  return key
}

function foreign(name: string): Error {
  return usageError(
    `"${name}" is the progress file of another crawl`,
    'inputs, limits, rules and version of stac-auth must be the same; give another file, or remove this one',
  )
}

/** Rewrites the file with only the last complete run. */
async function compact(name: string, header: string, { lines }: Run): Promise<void> {
  const fresh = `${name}.part`
  const part = { path: fresh, file: await open(fresh, 'w', 0o600) }
  await writeFileAtomically(part, name, { write: (file) => file.writeFile([header.trimEnd(), ...lines.values(), END, ''].join('\n')) })
}
