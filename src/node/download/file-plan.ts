/** Assigns every file its path below the folder. */
import { relative, sep } from 'node:path'
import { type AuthError, IntegrityError } from '../../errors.ts'
import { ownString, type StacDocument } from '../../stac/document.ts'
import type { Target } from '../../stac/target.ts'
import { foldedName, numberedName } from '../../text/file-name.ts'
import type { Destination } from './destination/destination.ts'
import type { DownloadFile } from './download.ts'
import type { FileName, NameFile } from './path-template.ts'
import { originAndPath, type SelectedFile } from './selected-files.ts'

/** A file to fetch, or the reason why it has no path. */
export interface PlannedFile {
  readonly file: DownloadFile
  readonly selected: SelectedFile
  /** Number of an earlier file with the same URL and path, whose result this one shares. */
  readonly repeats?: number
  /** True if its name has no extension: the response may propose one. */
  readonly lacksSuffix?: true
  readonly error?: AuthError
}

/** The owner of a path. */
interface Owner {
  readonly name: string
  /** Number of the last file there. */
  readonly number?: number
  /** Identifies the owner. */
  readonly source: string
  /** The planned name, if a suffix was added to it. */
  readonly base?: string
}

/** Longest suffix that a server proposes, with its dot. */
const LONGEST_SUFFIX = 16

interface PlanOptions {
  readonly name: NameFile
  readonly folder: Destination
  readonly collisions: 'refuse' | 'rename'
  /** All files of the document of a file. */
  readonly siblings: (wanted: SelectedFile) => Iterable<SelectedFile>
}

/** Assigns paths. Two files never share one, also on file systems that treat two names as equal. */
export class FilePlan {
  readonly #options: PlanOptions
  /** Owners by folded name. */
  readonly #taken = new Map<string, Owner>()
  /** Files in progress whose suffix is not known yet, by folded name, with their documents. */
  readonly #open = new Map<string, StacDocument>()
  /** Folded names of all files of documents with a file for which a suffix was proposed. */
  readonly #siblings = new WeakMap<StacDocument, ReadonlySet<string>>()
  /** The suffixes of taken names, by the folded name before them; made when it is first needed. */
  #endings: Map<string, Map<string, Owner>> | undefined
  #count = 0

  constructor(options: PlanOptions) {
    this.#options = options
  }

  get count(): number {
    return this.#count
  }

  /** Returns the path of a file, shared only with files of the same URL; `PATH_COLLISION` if another file owns it. */
  place(wanted: SelectedFile): PlannedFile {
    const [target] = wanted.targets
    const source = sourceOf(target)
    const { segments: wish, lacksSuffix } = this.#wish(wanted)
    const { segments, owner } = this.#free(wish, source)
    const file = fileAt(segments, ++this.#count, wanted, this.#options.folder)
    if (owner && owner.source !== source) return { file, selected: wanted, error: collision(file, owner.name) }
    this.#take({ name: file.name, number: file.number, source })
    return {
      file,
      selected: wanted,
      ...(owner?.number !== undefined && { repeats: owner.number }),
      ...(lacksSuffix && this.#options.folder.isLocal && { lacksSuffix }),
    }
  }

  /** Marks a file as in progress: its suffix is open until it is {@link settled}. */
  begun({ file, selected: wanted, lacksSuffix }: PlannedFile): void {
    if (lacksSuffix) this.#open.set(foldedName(file.name), wanted.targets[0].scope.document)
  }

  /** Marks the name of a file as final. */
  settled({ file, lacksSuffix }: PlannedFile): void {
    if (lacksSuffix) this.#open.delete(foldedName(file.name))
  }

  /** Returns true while a file of another document, which is in progress, may get this name by its suffix. */
  mustWait(wanted: SelectedFile): boolean {
    if (this.#open.size === 0) return false
    const name = foldedName(this.#wish(wanted).segments.join('/'))
    const { document } = wanted.targets[0].scope
    for (let dot = name.lastIndexOf('.'); dot > 0 && name.length - dot <= LONGEST_SUFFIX; dot = name.lastIndexOf('.', dot - 1)) {
      const owner = this.#open.get(name.slice(0, dot))
      if (owner && owner !== document) return true
    }
    return false
  }

  /**
   * Returns the file with a suffix that the server proposed; undefined if that is the name of any file planned before or of its own document: it
   * gets no suffix then, whichever of them is fetched first.
   */
  withSuffix(planned: PlannedFile, suffix: string): DownloadFile | undefined {
    if (this.refusedSuffixes(planned).includes(suffix.toLowerCase())) return undefined
    const { file, selected: wanted } = planned
    const name = file.name + suffix
    this.#take({ name, number: file.number, source: sourceOf(wanted.targets[0]), base: file.name })
    return { ...file, name, path: file.path + suffix }
  }

  /** Returns the suffixes, in lower case, with which {@link withSuffix} refuses this file, for a process without the plan. */
  refusedSuffixes({ file, selected: wanted }: PlannedFile): readonly string[] {
    if (!this.#endings) {
      this.#endings = new Map()
      for (const owner of this.#taken.values()) this.#index(owner)
    }
    const [base, source] = [foldedName(file.name), sourceOf(wanted.targets[0])]
    const taken = [...(this.#endings.get(base) ?? [])].filter(([, owner]) => !(owner.base === file.name && owner.source === source))
    const names = [...this.#siblingNames(wanted)].filter((name) => name.startsWith(`${base}.`))
    return [...new Set([...taken.map(([suffix]) => suffix), ...names.map((name) => name.slice(base.length))])]
  }

  #siblingNames(wanted: SelectedFile): ReadonlySet<string> {
    const { document } = wanted.targets[0].scope
    const nameFor = (sibling: SelectedFile) => foldedName(this.#wish(sibling).segments.join('/'))
    const names = this.#siblings.get(document) ?? new Set(Array.from(this.#options.siblings(wanted), nameFor))
    this.#siblings.set(document, names)
    return names
  }

  #take(owner: Owner): void {
    this.#taken.set(foldedName(owner.name), owner)
    if (this.#endings) this.#index(owner)
  }

  #index(owner: Owner): void {
    const name = foldedName(owner.name)
    for (let dot = name.lastIndexOf('.'); dot > 0 && name.length - dot <= LONGEST_SUFFIX; dot = name.lastIndexOf('.', dot - 1)) {
      const base = name.slice(0, dot)
      const endings = this.#endings?.get(base) ?? new Map<string, Owner>()
      this.#endings?.set(base, endings.set(name.slice(dot), owner))
    }
  }

  #wish({ targets: [target], folder, key, localPath }: SelectedFile): FileName {
    return folder ? { segments: folder.segments, lacksSuffix: false } : this.#options.name(target, key, localPath)
  }

  /**
   * Reserves a path for something that is not an asset. Returns false if the same source owns it already.
   *
   * Errors: `PATH_COLLISION` if anything else owns it.
   */
  reserve(path: string, source: string): boolean {
    const name = relative(this.#options.folder.path, path).split(sep).join('/')
    const owner = this.#taken.get(foldedName(name))
    if (owner && owner.source !== source) throw collision({ name, pointer: '' }, owner.name)
    this.#take({ name, source })
    return owner === undefined
  }

  /** Returns the first free path or one of the same source, as far as files may be renamed. */
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

/** Returns the first URL to request, with its query. */
function sourceOf(target: Target): string {
  return originAndPath(target).bare + (/\?[^#]*/.exec(target.href)?.[0] ?? '')
}

function fileAt(segments: readonly string[], number: number, { targets: [target], key, size }: SelectedFile, folder: Destination) {
  const id = ownString(target.scope.document, 'id')
  return {
    number,
    name: segments.join('/'),
    path: folder.pathOf(segments),
    url: originAndPath(target).bare,
    pointer: target.pointer,
    ...(id !== undefined && { document: id }),
    ...(key !== '' && { key }),
    ...(size !== undefined && { size }),
  }
}

function collision({ name, pointer }: Pick<DownloadFile, 'name' | 'pointer'>, owner: string): IntegrityError {
  return new IntegrityError('PATH_COLLISION', `"${name}" is already the name of another file${owner === name ? '' : `: "${owner}"`}`, {
    pointer,
    hint: 'choose another template for the names, such as {collection}/{id}/{key}{ext}, or have the second file renamed',
  })
}
