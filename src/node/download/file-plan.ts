/** Gives every wanted file its place below the folder. */
import { relative, sep } from 'node:path'
import { type AuthError, IntegrityError } from '../../errors.ts'
import type { StacDocument } from '../../stac/document.ts'
import { ownString } from '../../stac/json.ts'
import type { Target } from '../../stac/target.ts'
import { foldedName, numberedName } from '../../text/file-name.ts'
import type { DownloadFile } from './events.ts'
import type { FileName, NameFile } from './path-template.ts'
import { targetAddress } from './target-address.ts'
import type { TargetFolder } from './target-folder.ts'
import type { WantedFile } from './wanted-files.ts'

/** A file that is to be fetched, or why it has no place. */
export interface PlannedFile {
  readonly file: DownloadFile
  readonly wanted: WantedFile
  /** Number of the file before it that has the same address and the same place: of it nothing more is wanted than that one gives. */
  readonly repeats?: number
  /** Its name has no extension: the server's answer may say one. */
  readonly lacksSuffix?: true
  readonly error?: AuthError
}

/** Who has a place. */
interface Owner {
  readonly name: string
  /** Of the last file there. */
  readonly number?: number
  /** What tells it from others. */
  readonly source: string
  /** The name that was planned, where a suffix was added to it. */
  readonly base?: string
}

export interface PlanOptions {
  readonly name: NameFile
  readonly folder: TargetFolder
  readonly collisions: 'refuse' | 'rename'
  /** All files that are wanted of the document of a file. */
  readonly siblings: (wanted: WantedFile) => Iterable<WantedFile>
}

/** Two files never share a place, also where file systems take two names for one. */
export class FilePlan {
  readonly #options: PlanOptions
  /** By folded names. */
  readonly #taken = new Map<string, Owner>()
  /** Files under way whose suffix is not known yet, by folded names, with their documents. */
  readonly #open = new Map<string, StacDocument>()
  /** Folded names of all files of documents with a file for which a suffix was proposed. */
  readonly #siblings = new WeakMap<StacDocument, ReadonlySet<string>>()
  #count = 0

  constructor(options: PlanOptions) {
    this.#options = options
  }

  get count(): number {
    return this.#count
  }

  /** The place of a file, which it shares with another one of its address only; `PATH_COLLISION` where another file has it. */
  place(wanted: WantedFile): PlannedFile {
    const [target] = wanted.targets
    const source = sourceOf(target)
    const { segments: wish, lacksSuffix } = this.#wish(wanted)
    const { segments, owner } = this.#free(wish, source)
    const file = fileAt(segments, ++this.#count, wanted, this.#options.folder)
    if (owner && owner.source !== source) return { file, wanted, error: collision(file, owner.name) }
    this.#taken.set(foldedName(file.name), { name: file.name, number: file.number, source })
    return {
      file,
      wanted,
      ...(owner?.number !== undefined && { repeats: owner.number }),
      ...(lacksSuffix && { lacksSuffix }),
    }
  }

  /** A file is under way: whether its name gets a suffix is open until it is {@link settled}. */
  begun({ file, wanted, lacksSuffix }: PlannedFile): void {
    if (lacksSuffix) this.#open.set(foldedName(file.name), wanted.targets[0].scope.document)
  }

  /** The name of a file is decided. */
  settled({ file, lacksSuffix }: PlannedFile): void {
    if (lacksSuffix) this.#open.delete(foldedName(file.name))
  }

  /** True as long as a file of another document, which is under way, may get the name of this one by its suffix. */
  mustWait(wanted: WantedFile): boolean {
    if (this.#open.size === 0) return false
    const name = foldedName(this.#wish(wanted).segments.join('/'))
    const { document } = wanted.targets[0].scope
    for (let dot = name.lastIndexOf('.'); dot > 0 && name.length - dot <= 16; dot = name.lastIndexOf('.', dot - 1)) {
      const owner = this.#open.get(name.slice(0, dot))
      if (owner && owner !== document) return true
    }
    return false
  }

  /**
   * The file with a suffix that its document did not say. Undefined where that is the name of another file: of any that was planned before, or
   * of its own document; then it has none, whichever of them is fetched first.
   */
  withSuffix({ file, wanted }: PlannedFile, suffix: string): DownloadFile | undefined {
    const [name, source] = [file.name + suffix, sourceOf(wanted.targets[0])]
    const owner = this.#taken.get(foldedName(name))
    const isOurs = owner?.base === file.name && owner.source === source
    if (owner ? !isOurs : this.#isOfSibling(wanted, name)) return undefined
    this.#taken.set(foldedName(name), { name, number: file.number, source, base: file.name })
    return { ...file, name, path: file.path + suffix }
  }

  #isOfSibling(wanted: WantedFile, name: string): boolean {
    const { document } = wanted.targets[0].scope
    const nameOf = (sibling: WantedFile) => foldedName(this.#wish(sibling).segments.join('/'))
    const names = this.#siblings.get(document) ?? new Set(Array.from(this.#options.siblings(wanted), nameOf))
    this.#siblings.set(document, names)
    return names.has(foldedName(name))
  }

  #wish({ targets: [target], folder, key, localPath }: WantedFile): FileName {
    return folder ? { segments: folder.segments, lacksSuffix: false } : this.#options.name(target, key, localPath)
  }

  /**
   * Takes the place of something that is no asset. False where the same source has it already.
   *
   * Errors: `PATH_COLLISION` where anything else has it.
   */
  reserve(path: string, source: string): boolean {
    const name = relative(this.#options.folder.path, path).split(sep).join('/')
    const owner = this.#taken.get(foldedName(name))
    if (owner && owner.source !== source) throw collision({ name, pointer: '' }, owner.name)
    this.#taken.set(foldedName(name), { name, source })
    return owner === undefined
  }

  /** The first place that nobody has or that is of the same source, as far as files may be renamed. */
  #free(wish: readonly string[], source: string): { readonly segments: readonly string[]; readonly owner: Owner | undefined } {
    const [last = '', ...above] = [...wish].reverse()
    let segments = wish
    for (let number = 2; ; number++) {
      const owner = this.#taken.get(foldedName(segments.join('/')))
      if (!owner || owner.source === source || this.#options.collisions !== 'rename') return { segments, owner }
      segments = [...above.toReversed(), numberedName(last, number)]
    }
  }
}

/** The address that is asked first, with its query. */
function sourceOf(target: Target): string {
  return targetAddress(target).bare + (/\?[^#]*/.exec(target.href)?.[0] ?? '')
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
