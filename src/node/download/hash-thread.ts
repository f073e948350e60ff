/** Hashes files from the page cache: in a worker thread while they are being written, or at their end while they are few bytes. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { Worker } from 'node:worker_threads'

/** A hash of a growing file. */
export interface FollowingHash {
  /** Reports that all bytes before that offset are written. */
  reach(end: number): void
  /** Returns the digest of that many bytes in lower-case hex. Errors: those of reading. */
  digest(end: number): Promise<string>
  /** Stops the hash. */
  drop(): void
}

type Message =
  | { readonly id: number; readonly do: 'open'; readonly descriptor: number; readonly algorithm: string }
  | { readonly id: number; readonly do: 'reach' | 'digest'; readonly end: number }
  | { readonly id: number; readonly do: 'drop' }

interface Answer {
  readonly id: number
  readonly digest?: string
  readonly problem?: string
}

/** Starts the thread when it is worth it; `close` stops it. */
export class HashThread {
  readonly #from: number
  #written = 0
  #worker: Worker | undefined
  #count = 0
  readonly #waiting = new Map<number, { resolve(digest: string | undefined): void; reject(error: Error): void }>()

  /** @param from bytes of all files from which the thread is started: starting it costs as much as hashing some ten MiB */
  constructor(from: number) {
    this.#from = from
  }

  /** Starts the hash of an open file. */
  follow(descriptor: number, algorithm: string): FollowingHash {
    const id = ++this.#count
    let worker: Worker | undefined
    let reached = 0
    let isDropped = false
    const opened = (): Worker => {
      const started = this.#started()
      started.postMessage({ id, do: 'open', descriptor, algorithm } satisfies Message)
      return started
    }
    return {
      reach: (end) => {
        this.#written += end - reached
        reached = end
        if (!worker && this.#written >= this.#from) worker = opened()
        worker?.postMessage({ id, do: 'reach', end } satisfies Message)
      },
      digest: async (end) => {
        if (isDropped) throw Object.assign(new Error('the file is not followed'), { code: 'EBADF' })
        const digest = worker && (await this.#digest(worker, { id, do: 'digest', end }))
        return digest ?? hashHere(descriptor, algorithm, end)
      },
      drop: () => {
        isDropped = true
        worker?.postMessage({ id, do: 'drop' } satisfies Message)
      },
    }
  }

  async close(): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    await worker?.terminate()
  }

  #started(): Worker {
    if (this.#worker) return this.#worker
    // Passed as text, so that it runs from sources, from a package and from a bundle; it needs only Node.
    const worker = new Worker(`(${inThread.toString()})()`, { eval: true, env: {}, execArgv: [] })
    worker.unref()
    worker.on('message', (answer: Answer) => this.#answered(answer))
    worker.on('error', () => this.#ended())
    this.#worker = worker
    return worker
  }

  /** Undefined once the thread has stopped, because it would not reply. */
  #digest(worker: Worker, message: Message): Promise<string | undefined> {
    if (this.#worker !== worker) return Promise.resolve(undefined)
    return new Promise((resolve, reject) => {
      this.#waiting.set(message.id, { resolve, reject })
      worker.ref()
      worker.postMessage(message)
    })
  }

  #answered({ id, digest, problem }: Answer): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (this.#waiting.size === 0) this.#worker?.unref()
    if (digest !== undefined) waiting?.resolve(digest)
    else waiting?.reject(Object.assign(new Error('the file could not be read'), { code: problem }))
  }

  /** The system limits the threads of a process and their memory. */
  #ended(): void {
    this.#worker = undefined
    for (const { resolve } of this.#waiting.values()) resolve(undefined)
    this.#waiting.clear()
  }
}

/** Hashes in this thread. */
async function hashHere(fd: number, algorithm: string, end: number): Promise<string> {
  const hash = createHash(algorithm)
  if (end === 0) return hash.digest('hex')
  const chunks = createReadStream('', { fd, autoClose: false, start: 0, end: end - 1, highWaterMark: 2 ** 20 })
  for await (const chunk of chunks) hash.update(chunk as Uint8Array)
  if (chunks.bytesRead < end) throw Object.assign(new Error('the file could not be read'), { code: 'EIO' })
  return hash.digest('hex')
}

/** The code of the thread. It cannot use anything outside of this function. */
function inThread(): void {
  const { parentPort } = process.getBuiltinModule('node:worker_threads')
  const { createHash: hashOf } = process.getBuiltinModule('node:crypto')
  const { readSync } = process.getBuiltinModule('node:fs')
  const files = new Map<number, { descriptor: number; algorithm: string; hash: ReturnType<typeof hashOf>; at: number }>()
  const buffer = Buffer.allocUnsafe(1 << 20)
  parentPort?.on('message', (message: Message) => {
    const { id } = message
    const file = files.get(id)
    try {
      if (message.do === 'open') {
        const { descriptor, algorithm } = message
        files.set(id, { descriptor, algorithm, hash: hashOf(algorithm), at: 0 })
      } else if (message.do === 'drop') {
        files.delete(id)
      } else if (!file) {
        throw Object.assign(new Error(), { code: 'EBADF' })
      } else if (message.do === 'reach' || message.do === 'digest') {
        while (file.at < message.end) {
          const length = readSync(file.descriptor, buffer, 0, Math.min(buffer.length, message.end - file.at), file.at)
          if (length === 0) throw Object.assign(new Error(), { code: 'EIO' })
          file.hash.update(buffer.subarray(0, length))
          file.at += length
        }
        if (message.do === 'digest') parentPort?.postMessage({ id, digest: file.hash.digest('hex') })
      }
    } catch (error) {
      // A file that ends early may have been discarded. Every other error is reported with the digest.
      if (message.do === 'digest') parentPort?.postMessage({ id, problem: String((error as NodeJS.ErrnoException).code) })
    }
  })
}
