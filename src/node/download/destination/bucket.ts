/** A bucket of the user's as the destination of a download: files go there without a copy on the disk. */

import { createHash, type Hash, randomBytes } from 'node:crypto'
import { PassThrough, Readable } from 'node:stream'
import { IntegrityError } from '../../../errors.ts'
import { linesIn, MANIFEST_HEADER, MANIFEST_NAME, type ManifestStore, requireKnownVersion } from '../manifest.ts'
import { BucketClient, bucketAddressOf } from './bucket-client.ts'
import type { Destination, Part, PresentFile } from './destination.ts'
import type { PartVersion, Span } from './part-journal.ts'

export class Bucket implements Destination {
  readonly isLocal = false
  readonly path: string
  readonly manifest: ManifestStore
  readonly #root: string
  readonly #client: BucketClient

  /** @param url `s3://bucket/prefix`. Errors: `USAGE`. */
  constructor(url: string) {
    const { bucket, prefix } = bucketAddressOf(url)
    this.#root = `s3://${bucket}/`
    this.path = this.#root + prefix
    this.#client = new BucketClient(bucket)
    this.manifest = new BucketManifest(this.#client, this.#keyOf(this.#below(`${MANIFEST_NAME}/`)))
  }

  pathOf(segments: readonly string[]): string {
    const isBelow = segments.every((segment) => segment !== '' && segment !== '..' && segment !== '.' && !/[/\\]/.test(segment))
    if (isBelow && segments.length > 0) return this.#below(segments.join('/'))
    throw new IntegrityError('PATH_UNSAFE', `"${segments.join('/')}" leads out of "${this.path}"`)
  }

  async prepare(): Promise<{ readonly hasPart: boolean }> {
    return { hasPart: false }
  }

  present(path: string): Promise<PresentFile | undefined> {
    return this.#client.head(this.#keyOf(path))
  }

  async digest(path: string, algorithm: string): Promise<string> {
    const hash = createHash(algorithm)
    for await (const chunk of this.#client.get(this.#keyOf(path))) hash.update(chunk)
    return hash.digest('hex')
  }

  async head(path: string, bytes: number): Promise<Uint8Array> {
    return bytesOf(this.#client.get(this.#keyOf(path), bytes), bytes)
  }

  async open(path: string): Promise<Part> {
    return new BucketPart(this.#client, this.#keyOf(path))
  }

  async readOwn(name: string, most: number): Promise<string | undefined> {
    const path = this.#below(name)
    if (!(await this.present(path))) return undefined
    return Buffer.from(await bytesOf(this.#client.get(this.#keyOf(path)), most)).toString()
  }

  createOwn(name: string, text: string): Promise<boolean> {
    return this.#client.create(this.#keyOf(this.#below(name)), text)
  }

  async sync(): Promise<void> {}

  async again(): Promise<this> {
    return this
  }

  #below(name: string): string {
    return this.path === this.#root ? this.path + name : `${this.path}/${name}`
  }

  #keyOf(path: string): string {
    return path.slice(this.#root.length)
  }
}

async function bytesOf(chunks: AsyncIterable<Uint8Array>, most: number): Promise<Uint8Array> {
  const read: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    read.push(chunk)
    size += chunk.byteLength
    if (size >= most) break
  }
  return Buffer.concat(read).subarray(0, most)
}

/** Lines after which an object is written. */
const MOST_LINES = 50_000

/** A manifest in several objects, because nothing can be appended to one: each run adds at least one of its own. */
class BucketManifest implements ManifestStore {
  readonly #client: BucketClient
  readonly #prefix: string
  #lines: string[] = []
  #writing: Promise<void> = Promise.resolve()

  constructor(client: BucketClient, prefix: string) {
    this.#client = client
    this.#prefix = prefix
  }

  async *read(): AsyncGenerator<unknown> {
    for await (const key of this.#client.keys(this.#prefix))
      for await (const line of linesIn(this.#client.get(key))) yield requireKnownVersion(line, key)
  }

  add(line: object): void {
    this.#lines.push(`${JSON.stringify(line)}\n`)
    if (this.#lines.length >= MOST_LINES) this.#write()
  }

  close(): Promise<void> {
    this.#write()
    return this.#writing
  }

  #write(): void {
    const lines = this.#lines
    this.#lines = []
    if (lines.length === 0) return
    // The order of the names is that of the runs.
    const key = `${this.#prefix}${new Date().toISOString().replace(/[:.]/g, '-')}-${randomBytes(6).toString('hex')}.ndjson`
    const body = Readable.from([Buffer.from(`${JSON.stringify(MANIFEST_HEADER)}\n${lines.join('')}`)])
    this.#writing = this.#writing.then(() => this.#client.upload(key, body, 8 * 2 ** 20, 1))
    this.#writing.catch(() => undefined)
  }
}

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

/** The bytes of a file on their way into the bucket. They exist only in memory, so no other run can continue them. */
export class BucketPart implements Part {
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
    this.hash('sha256')
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
    for (const algorithm of algorithms) this.hash(algorithm)
  }

  write(_offset: number, chunk: Uint8Array): Promise<void> | undefined {
    if (this.#failure !== undefined) throw this.#failure
    for (const hash of this.#hashes.values()) hash.update(chunk)
    this.#length += chunk.byteLength
    const upload = this.#started()
    return upload.body.write(chunk) ? undefined : this.#drained(upload)
  }

  async flush(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
  }

  hash(algorithm: string): boolean {
    if (!this.#hashes.has(algorithm) && this.#length === 0) this.#hashes.set(algorithm, createHash(algorithm))
    return this.#hashes.has(algorithm)
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
