import type { DownloadInput, DownloadOptions } from '../../node/download/index.ts'
import { wantedFiles } from '../../node/download/wanted-files.ts'
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

  /** Hands the inputs on and looks at each. */
  async *watch(
    inputs: AsyncIterable<DownloadInput>,
    options: Pick<DownloadOptions, 'assets' | 'alternates'>,
  ): AsyncGenerator<DownloadInput> {
    for await (const input of inputs) {
      this.#look(input, options)
      yield input
    }
    this.isComplete = true
  }

  /** The targets of the file that was planned next. */
  takeTargets(): readonly Target[] {
    return this.#targets?.shift() ?? []
  }

  /** Keys of assets that there are. */
  get keys(): readonly string[] {
    return [...this.#keys]
  }

  #look(input: DownloadInput, options: Pick<DownloadOptions, 'assets' | 'alternates'>): void {
    this.documents++
    for (const { size, targets } of wantedFiles(input, options)) {
      this.files++
      this.#targets?.push(targets)
      if (size === undefined) continue
      this.bytes += size
      this.sized++
    }
    if ('document' in input)
      for (const key of Object.keys(ownObject(input.document, 'assets') ?? {})) if (this.#keys.size < MOST_KEYS) this.#keys.add(key)
  }
}
