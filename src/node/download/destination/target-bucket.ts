/** A bucket of the user's as the target of a download: files go there without a copy on the disk. */

import { createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { IntegrityError } from '../../../errors.ts'
import type { HashThread } from '../hash-thread.ts'
import { linesIn, MANIFEST_HEADER, MANIFEST_NAME, type ManifestStore, requireKnownVersion } from '../manifest.ts'
import { BucketClient, bucketAddressOf } from './bucket-client.ts'
import { BucketContent } from './bucket-content.ts'
import type { Content, Destination, PresentFile } from './destination.ts'

export class TargetBucket implements Destination {
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

  async open(path: string, _hashes: HashThread): Promise<Content> {
    return new BucketContent(this.#client, this.#keyOf(path))
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
