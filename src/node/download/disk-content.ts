/** The received bytes of a file: in memory while they are few, then in a partial file. */
import { createHash } from 'node:crypto'
import type { WaitOptions } from '../base/process-lock.ts'
import { readFailure } from '../base/system-error.ts'
import type { Content, OpenOptions } from './destination/destination.ts'
import { writeSmallFile } from './destination/small-file.ts'
import { DiskPart } from './disk-part.ts'
import type { FollowingHash, HashThread } from './hash-thread.ts'
import type { PartVersion, Span } from './part-journal.ts'

/** Size in bytes up to which a file is written at once, and of each write of a larger one. */
const PIECE = 2 ** 20

export class DiskContent implements Content {
  readonly #path: string
  readonly #hashes: HashThread
  readonly #wait: WaitOptions
  #disk: DiskPart | undefined
  /** Bytes not yet written; all of them while there is no partial file. */
  #waiting: Uint8Array[] = []
  #size = 0
  #offset = 0
  #writing: Promise<void> = Promise.resolve()
  #version: PartVersion | undefined
  /** Hashes by algorithm. */
  readonly #following = new Map<string, FollowingHash>()
  readonly #digests = new Map<string, Promise<string>>()

  private constructor(path: string, hashes: HashThread, wait: WaitOptions, disk: DiskPart | undefined) {
    this.#path = path
    this.#hashes = hashes
    this.#wait = wait
    this.#disk = disk
    this.#version = disk?.found?.version
    this.#offset = disk?.spans.prefix ?? 0
  }

  /** Errors: as {@link DiskPart.open}. */
  static async open(path: string, hashes: HashThread, { taken, resume, wait = {} }: OpenOptions): Promise<DiskContent> {
    const content = new DiskContent(path, hashes, wait, taken ? await DiskPart.open(path, wait) : undefined)
    if (taken && !(resume && content.#version)) await content.reset()
    return content
  }

  get version(): PartVersion | undefined {
    return this.#version
  }

  get length(): number {
    return this.#offset + this.#size
  }

  get total(): number {
    return Math.max(this.length, this.#disk?.spans.total ?? 0)
  }

  missing(size: number): readonly Span[] {
    return this.#disk ? this.#disk.spans.missing(size) : this.length < size ? [[this.length, size]] : []
  }

  /** Returns true if another run can resume from the written bytes. */
  get isKept(): boolean {
    return this.#disk !== undefined && this.#version !== undefined
  }

  async begin(version: PartVersion | undefined, size: number | undefined): Promise<void> {
    if (size !== undefined && size > PIECE) await this.#toDisk()
    if (version && version !== this.#version) this.#disk?.describe(version)
    this.#version = version
  }

  async reset(): Promise<void> {
    await this.#writing.catch(() => undefined)
    this.#waiting = []
    this.#size = 0
    this.#offset = 0
    this.#version = undefined
    this.#writing = Promise.resolve()
    this.#drop()
    this.#following.clear()
    this.#digests.clear()
    await this.#disk?.reset()
  }

  add(chunk: Uint8Array): Promise<void> | undefined {
    this.#waiting.push(chunk)
    this.#size += chunk.byteLength
    return this.#size < PIECE ? undefined : this.#spill()
  }

  async flush(): Promise<void> {
    if (this.#disk) await this.#handOver(this.#disk)
    await this.#writing
  }

  async spread(): Promise<void> {
    await this.#toDisk()
  }

  async writeAt(offset: number, chunks: readonly Uint8Array[]): Promise<void> {
    const disk = await this.#toDisk()
    await disk.write(offset, chunks)
    this.#offset = disk.spans.prefix
    this.#reach(this.#offset)
  }

  /** Switches to a partial file. Errors: as {@link DiskPart.open}. */
  async #toDisk(): Promise<DiskPart> {
    if (this.#disk) return this.#disk
    const disk = await DiskPart.open(this.#path, this.#wait)
    if (disk.found) await disk.reset()
    if (this.#version) disk.describe(this.#version)
    this.#disk = disk
    return disk
  }

  canHash(): boolean {
    return true
  }

  /** A partial file is hashed while it grows. */
  expect(algorithm: string): void {
    if (this.#following.has(algorithm) || !this.#disk) return
    const following = this.#hashes.follow(this.#disk.descriptor, algorithm)
    this.#following.set(algorithm, following)
    following.reach(this.#offset)
  }

  digest(algorithm: string): Promise<string> {
    const digest = this.#digests.get(algorithm) ?? this.#digest(algorithm)
    this.#digests.set(algorithm, digest)
    return digest
  }

  async #digest(algorithm: string): Promise<string> {
    this.expect(algorithm)
    const following = this.#following.get(algorithm)
    if (following) {
      return following.digest(this.length).catch((error: unknown) => {
        throw readFailure(error, this.#path)
      })
    }
    const hash = createHash(algorithm)
    for (const chunk of this.#waiting) hash.update(chunk)
    return hash.digest('hex')
  }

  async complete(replace: boolean, path = this.#path): Promise<void> {
    this.#drop()
    if (this.#disk) await this.#disk.complete(replace, path)
    else await writeSmallFile(path, this.#waiting, replace, this.#path)
  }

  async close(keep: boolean): Promise<number> {
    this.#drop()
    await this.flush().catch(() => undefined)
    const left = keep && this.isKept ? (this.#disk?.spans.total ?? 0) : 0
    await (left > 0 ? this.#disk?.keep() : this.#disk?.discard())
    return left
  }

  #reach(end: number): void {
    for (const following of this.#following.values()) following.reach(end)
  }

  #drop(): void {
    for (const following of this.#following.values()) following.drop()
  }

  async #spill(): Promise<void> {
    // One buffer is written while the next one is received.
    await this.#writing
    await this.#handOver(await this.#toDisk())
  }

  #handOver(disk: DiskPart): void {
    if (this.#size === 0) return
    const [offset, chunks] = [this.#offset, this.#waiting]
    this.#waiting = []
    this.#offset += this.#size
    this.#size = 0
    const end = this.#offset
    this.#writing = this.#writing.then(() => disk.write(offset, chunks)).then(() => this.#reach(end))
    // The next write or wait reports it.
    this.#writing.catch(() => undefined)
  }
}
