/** Gives every wanted file its place below the folder. */
import { relative, sep } from 'node:path'
import { type AuthError, IntegrityError } from '../../errors.ts'
import { ownString } from '../../stac/json.ts'
import { foldedName, numberedName } from '../../text/file-name.ts'
import type { DownloadFile } from './events.ts'
import type { NameFile } from './path-template.ts'
import { targetAddress } from './target-address.ts'
import type { TargetFolder } from './target-folder.ts'
import type { WantedFile } from './wanted-files.ts'

/** A file that is to be fetched, or why it has no place. */
export interface PlannedFile {
  readonly file: DownloadFile
  readonly wanted: WantedFile
  readonly error?: AuthError
}

export interface PlanOptions {
  readonly name: NameFile
  readonly folder: TargetFolder
  readonly collisions: 'refuse' | 'rename'
}

/** Two files never share a place, also where file systems take two names for one. */
export class FilePlan {
  readonly #options: PlanOptions
  /** Folded names, with who has them. */
  readonly #taken = new Map<string, string>()
  #count = 0

  constructor(options: PlanOptions) {
    this.#options = options
  }

  get count(): number {
    return this.#count
  }

  /** The place of a file; `PATH_COLLISION` where another one has it. */
  place(wanted: WantedFile): PlannedFile {
    const [target] = wanted.targets
    const wish = this.#options.name(target, wanted.key)
    const owner = this.#taken.get(foldedName(wish.join('/')))
    const segments = owner !== undefined && this.#options.collisions === 'rename' ? this.#numbered(wish) : wish
    const file = fileAt(segments, ++this.#count, wanted, this.#options.folder)
    if (owner !== undefined && segments === wish) return { file, wanted, error: collision(file, owner) }
    this.#taken.set(foldedName(segments.join('/')), file.name)
    return { file, wanted }
  }

  /** Takes the place of something that is no asset. Gives `PATH_COLLISION` where a file has it. */
  reserve(path: string): AuthError | undefined {
    const name = relative(this.#options.folder.path, path).split(sep).join('/')
    const owner = this.#taken.get(foldedName(name))
    this.#taken.set(foldedName(name), owner ?? name)
    return owner === undefined ? undefined : collision({ name, pointer: '' }, owner)
  }

  #numbered(wish: readonly string[]): readonly string[] {
    const [last = '', ...above] = [...wish].reverse()
    for (let number = 2; ; number++) {
      const segments = [...above.toReversed(), numberedName(last, number)]
      if (!this.#taken.has(foldedName(segments.join('/')))) return segments
    }
  }
}

function fileAt(segments: readonly string[], number: number, { targets: [target], key, size }: WantedFile, folder: TargetFolder) {
  const id = ownString(target.scope.document, 'id')
  return {
    number,
    name: segments.join('/'),
    path: folder.pathOf(segments),
    url: targetAddress(target).bare,
    pointer: target.pointer,
    ...(id !== undefined && { document: id }),
    ...(key !== '' && { key }),
    ...(size !== undefined && { size }),
  }
}

function collision({ name, pointer }: Pick<DownloadFile, 'name' | 'pointer'>, owner: string): IntegrityError {
  return new IntegrityError('PATH_COLLISION', `"${name}" is the name of another file already${owner === name ? '' : `: "${owner}"`}`, {
    pointer,
    hint: 'choose another template for the names, such as {collection}/{id}/{key}{ext}, or let the second one be renamed',
  })
}
