/** Hashes files in a thread of its own while they are being written, from where the system keeps what was just written. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { Worker } from 'node:worker_threads'

/** A hash of the beginning of a file that grows. */
export interface FollowingHash {
  /** All bytes before that one are there. */
  reach(end: number): void
  /** The digest of that many bytes, in lower-case hex. Errors: those of reading. */
  digest(end: number): Promise<string>
  /** It is not needed any more. */
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

/** Makes the thread when it is first needed; `close` ends it. */
export class HashThread {
  #worker: Worker | undefined
  #count = 0
  readonly #waiting = new Map<number, { resolve(digest: string | undefined): void; reject(error: Error): void }>()

  /** Follows an open file. */
  follow(descriptor: number, algorithm: string): FollowingHash {
    const id = ++this.#count
    const worker = this.#started()
    const post = (message: Message) => worker.postMessage(message)
    post({ id, do: 'open', descriptor, algorithm })
    return {
      reach: (end) => post({ id, do: 'reach', end }),
      digest: async (end) => {
        const digest = await this.#digest(worker, { id, do: 'digest', end })
        return digest ?? hashHere(descriptor, algorithm, end)
      },
      drop: () => post({ id, do: 'drop' }),
    }
  }

  async close(): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    await worker?.terminate()
  }

  #started(): Worker {
    if (this.#worker) return this.#worker
    // As text, so that it runs from sources, from a package and from a bundle alike: it needs nothing but Node.
    const worker = new Worker(`(${inThread.toString()})()`, { eval: true, env: {}, execArgv: [] })
    worker.unref()
    worker.on('message', (answer: Answer) => this.#answered(answer))
    worker.on('error', () => this.#ended())
    this.#worker = worker
    return worker
  }

  /** Undefined when the thread has ended: nobody would answer. */
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

  /** The system lets a process have so many threads, and a thread so much memory. */
  #ended(): void {
    this.#worker = undefined
    for (const { resolve } of this.#waiting.values()) resolve(undefined)
    this.#waiting.clear()
  }
}

/** Without a thread. */
async function hashHere(fd: number, algorithm: string, end: number): Promise<string> {
  const hash = createHash(algorithm)
  if (end === 0) return hash.digest('hex')
  const chunks = createReadStream('', { fd, autoClose: false, start: 0, end: end - 1, highWaterMark: 2 ** 20 })
  for await (const chunk of chunks) hash.update(chunk as Uint8Array)
  return hash.digest('hex')
}

/** What the thread does. Nothing outside of this function exists there. */
function inThread(): void {
  const { parentPort } = process.getBuiltinModule('node:worker_threads')
  const { createHash } = process.getBuiltinModule('node:crypto')
  const { readSync } = process.getBuiltinModule('node:fs')
  const files = new Map<number, { descriptor: number; algorithm: string; hash: ReturnType<typeof createHash>; at: number }>()
  const buffer = Buffer.allocUnsafe(1 << 20)
  parentPort?.on('message', (message: Message) => {
    const { id } = message
    const file = files.get(id)
    try {
      if (message.do === 'open') {
        const { descriptor, algorithm } = message
        files.set(id, { descriptor, algorithm, hash: createHash(algorithm), at: 0 })
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
      // A file that ends too early may have been thrown away. Every other error is reported with the digest.
      if (message.do === 'digest') parentPort?.postMessage({ id, problem: String((error as NodeJS.ErrnoException).code) })
    }
  })
}
