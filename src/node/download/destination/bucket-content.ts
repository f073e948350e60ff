/** The received bytes of a file on their way into a bucket. They exist only in memory, so no other run can continue them. */

import { createHash, type Hash } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { IntegrityError } from '../../../errors.ts'
import type { PartVersion, Span } from '../part-journal.ts'
import type { BucketClient } from './bucket-client.ts'
import type { Content } from './destination.ts'

/** Bytes of a part, unless the file has more than {@link MOST_PARTS} of them. Three parts of each file are in memory. */
const PART = 8 * 2 ** 20

/** Parts that are sent at a time, for each file. */
const CONCURRENT = 2

/** Most parts of an object in Amazon S3. */
const MOST_PARTS = 10_000

/** Bytes that wait for the next part. */
const AHEAD = 2 ** 20

/** Milliseconds after which an upload that does not end is left behind. */
const LEFT_AFTER = 10_000

export class BucketContent implements Content {
  readonly #client: BucketClient
  readonly #key: string
  readonly #hashes = new Map<string, Hash>()
  #version: PartVersion | undefined
  #length = 0
  #size: number | undefined
  #upload: { readonly body: PassThrough; readonly done: Promise<void> } | undefined
  #failure: unknown

  constructor(client: BucketClient, key: string) {
    this.#client = client
    this.#key = key
    this.expect('sha256')
  }

  get version(): PartVersion | undefined {
    return this.#version
  }

  get length(): number {
    return this.#length
  }

  get total(): number {
    return this.#length
  }

  missing(size: number): readonly Span[] {
    return this.#length < size ? [[this.#length, size]] : []
  }

  async begin(version: PartVersion | undefined, size: number | undefined): Promise<void> {
    this.#version = version
    this.#size = size
  }

  async reset(): Promise<void> {
    await this.#abort()
    this.#version = undefined
    this.#length = 0
    const algorithms = [...this.#hashes.keys()]
    this.#hashes.clear()
    for (const algorithm of algorithms) this.expect(algorithm)
  }

  add(chunk: Uint8Array): Promise<void> | undefined {
    if (this.#failure !== undefined) throw this.#failure
    for (const hash of this.#hashes.values()) hash.update(chunk)
    this.#length += chunk.byteLength
    const upload = this.#started()
    return upload.body.write(chunk) ? undefined : this.#drained(upload)
  }

  async flush(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
  }

  async spread(): Promise<void> {
    throw new TypeError('a bucket takes the bytes of a file in their order')
  }

  async writeAt(): Promise<void> {
    throw new TypeError('a bucket takes the bytes of a file in their order')
  }

  canHash(algorithm: string): boolean {
    return this.#length === 0 || this.#hashes.has(algorithm)
  }

  expect(algorithm: string): void {
    if (!this.#hashes.has(algorithm) && this.#length === 0) this.#hashes.set(algorithm, createHash(algorithm))
  }

  async digest(algorithm: string): Promise<string> {
    const hash = this.#hashes.get(algorithm)
    if (!hash) throw new TypeError(`the ${algorithm} of the content is not computed`)
    return hash.copy().digest('hex')
  }

  /** The object appears with its last byte, so the body is ended only when the bytes are verified. */
  async complete(): Promise<void> {
    const { body, done } = this.#started()
    body.end()
    await done
    this.#upload = undefined
  }

  async close(): Promise<number> {
    await this.#abort()
    return 0
  }

  #started() {
    if (this.#upload) return this.#upload
    const body = new PassThrough({ highWaterMark: AHEAD })
    // The upload reports what ends it.
    body.on('error', () => undefined)
    const partSize = Math.max(PART, Math.ceil((this.#size ?? 0) / MOST_PARTS))
    const done = this.#client.upload(this.#key, body, partSize, CONCURRENT)
    done.catch((error: unknown) => {
      if (this.#upload?.body === body) this.#failure = error
    })
    this.#upload = { body, done }
    return this.#upload
  }

  async #drained({ body, done }: { readonly body: PassThrough; readonly done: Promise<void> }): Promise<void> {
    let go: () => void = () => {}
    const drained = new Promise<void>((resolve) => {
      go = resolve
    })
    body.once('drain', go)
    try {
      await Promise.race([drained, done])
    } finally {
      body.off('drain', go)
    }
  }

  /** Removes the parts that were sent. */
  async #abort(): Promise<void> {
    const upload = this.#upload
    this.#upload = undefined
    this.#failure = undefined
    if (!upload) return
    upload.body.destroy(new IntegrityError('FILE_INCOMPLETE', 'the upload was given up'))
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, LEFT_AFTER)
    })
    await Promise.race([upload.done.catch(() => undefined), late])
    clearTimeout(timer)
  }
}
