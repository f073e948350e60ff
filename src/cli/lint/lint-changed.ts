/** The files that changed, as inputs of `lint`. */
import { realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { changedFiles, type GitFile, readBlob, stagedFiles } from '../../node/git.ts'
import { isAddress } from '../read-document.ts'
import { usageError } from '../usage.ts'
import { isDocument, isGlob, leftOutBelow } from './lint-inputs.ts'
import type { FixingOptions } from './lint-options.ts'

export interface ChangedOptions {
  /** A revision; true for the last commit. */
  readonly changed?: string | true
  readonly staged?: boolean
}

/** Files to lint, and where their bytes are when it is not there. */
export interface ChangedInputs {
  readonly names: readonly string[]
  /** The bytes of what is staged, by name. */
  readonly read?: (name: string) => AsyncIterable<Uint8Array>
}

/** Refuses what makes no sense together. Errors: `USAGE`. */
export function requireChanged(
  inputs: readonly string[],
  { changed, staged, crawl, fix, fixSuggestions, fixDryRun }: ChangedOptions & Partial<FixingOptions> & { readonly crawl?: boolean },
): void {
  if (changed === undefined && !staged) return
  const option = staged ? '--staged' : '--changed'
  if (staged && changed !== undefined) throw usageError('--changed and --staged exclude each other')
  if (crawl) throw usageError(`${option} is for files, and --crawl follows links`)
  if (staged && (fix || fixSuggestions || fixDryRun))
    throw usageError('what is staged cannot be mended', 'mend the files and stage them again')
  const other = inputs.find((name) => name === '-' || isAddress(name))
  if (other !== undefined) throw usageError(`${option} is for files and folders, not for ${other === '-' ? 'standard input' : 'addresses'}`)
}

/**
 * What has changed of the inputs; without inputs, below the current folder. A file is named as it would be without the
 * option. Errors: those of `changedFiles`; `USAGE` for an input that is nowhere.
 */
export async function changedInputs(
  inputs: readonly string[],
  { changed, staged, ignore }: ChangedOptions & { readonly ignore?: readonly string[] },
): Promise<ChangedInputs> {
  const files = staged ? await stagedFiles('.') : await changedFiles('.', changed === true || changed === undefined ? 'HEAD' : changed)
  const names = new Map<string, GitFile>()
  for (const input of inputs.length > 0 ? inputs : ['.']) {
    const found = await selected(input, files, ignore ?? [])
    if (found.length === 0 && !isGlob(input) && !(await exists(input)))
      throw usageError(`"${input}" is no file or folder, and nothing of that name has changed`)
    for (const [name, file] of found) names.set(name, file)
  }
  const sorted = [...names.keys()].sort()
  const read = (name: string) => readBlob('.', names.get(name)?.blob ?? '')
  return staged ? { names: sorted, read } : { names: sorted }
}

/** The files that one input covers, by the names that they get from it. */
async function selected(
  input: string,
  files: readonly GitFile[],
  ignore: readonly string[],
): Promise<readonly (readonly [string, GitFile])[]> {
  if (isGlob(input) && !(await exists(input))) {
    const { default: picomatch } = await import('picomatch')
    const matches = picomatch(input.replace(/^\.\//, ''))
    const here = await realpath('.')
    return files.flatMap((file) => {
      const name = input.startsWith(sep) ? file.path : relative(here, file.path)
      return matches(name) ? [[safe(name), file] as const] : []
    })
  }
  const base = await realOf(input)
  const isLeftOut = await leftOutBelow(base, { ignore })
  return files.flatMap((file) => {
    if (file.path === base) return [[safe(input), file] as const]
    const below = relative(base, file.path)
    const isBelow = file.path.startsWith(base.endsWith(sep) ? base : base + sep)
    const isWanted = isBelow && isDocument(file.path) && !isLeftOut(file.path)
    return isWanted ? [[safe(join(input, below)), file] as const] : []
  })
}

/** Links resolved as far as the path is there: what is staged may be gone. */
async function realOf(path: string): Promise<string> {
  const absolute = resolve(path)
  return realpath(absolute).catch(async () => {
    const above = dirname(absolute)
    return above === absolute ? absolute : join(await realOf(above), basename(absolute))
  })
}

/** A file of the name of standard input is a file. */
function safe(name: string): string {
  return name === '-' ? `.${sep}-` : name
}

function exists(name: string): Promise<boolean> {
  return stat(name).then(
    () => true,
    () => false,
  )
}
