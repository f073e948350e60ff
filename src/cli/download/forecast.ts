import type { DownloadInput, SourceDocument } from '../../node/download/index.ts'
import { type WantedOptions, wantedFiles } from '../../node/download/wanted-files.ts'
import { ownObject } from '../../stac/json.ts'
import type { Target } from '../../stac/target.ts'

/** Keys of assets that are remembered for those who chose one that is nowhere. */
const MOST_KEYS = 12

/** What is going to be downloaded, as far as it is known: it is read as it is needed. */
export class Forecast {
  /** Documents that were read, lists counted as one. */
  documents = 0
  files = 0
  /** Bytes of those files whose documents promise a size, and how many these are. */
  bytes = 0
  sized = 0
  /** True when nothing more will come. */
  isComplete = false
  readonly #keys = new Set<string>()
  /** The targets of each file in the order of planning, for who takes them. */
  readonly #targets: (readonly Target[])[] | undefined

  constructor(keepsTargets: boolean) {
    if (keepsTargets) this.#targets = []
  }

  /** Hands the inputs on and looks at each; one more is read meanwhile, so that the end is known before it comes. */
  async *watch(inputs: AsyncIterable<SourceDocument>, choice: WantedOptions): AsyncGenerator<DownloadInput> {
    const iterator = inputs[Symbol.asyncIterator]()
    const read = async () => {
      const result = await iterator.next()
      if (result.done) this.isComplete = true
      else this.#look(result.value, choice)
      return result
    }
    try {
      for (let result = await read(); !result.done; ) {
        const following = read()
        following.catch(() => undefined)
        yield result.value
        result = await following
      }
    } finally {
      // Not waited for: what is being read then may take long, and nobody needs it.
      iterator.return?.().catch(() => undefined)
    }
  }

  /** An asset that is a folder becomes as many files as it has objects. */
  atLeast(files: number): void {
    this.files = Math.max(this.files, files)
  }

  /** The targets of the file that was planned next. */
  takeTargets(): readonly Target[] {
    return this.#targets?.shift() ?? []
  }

  /** Keys of assets that there are. */
  get keys(): readonly string[] {
    return [...this.#keys]
  }

  #look(input: SourceDocument, choice: WantedOptions): void {
    this.documents++
    for (const { size, targets } of wantedFiles(input, choice)) {
      this.files++
      this.#targets?.push(targets)
      if (size === undefined) continue
      this.bytes += size
      this.sized++
    }
    for (const key of Object.keys(ownObject(input.document, 'assets') ?? {})) if (this.#keys.size < MOST_KEYS) this.#keys.add(key)
  }
}
