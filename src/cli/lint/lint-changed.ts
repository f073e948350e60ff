/** Selects changed files as inputs of `lint`. */
import { realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { isAddress } from '../../http/url.ts'
import { usageError } from '../exit-code.ts'
import { exists, fileGlob, isDocument, isGlob, leftOutBelow, whyNone } from '../inputs/input-files.ts'
import { changedFiles, type GitFile, readBlob, stagedFiles } from './git.ts'
import type { FixingOptions } from './lint-options.ts'

export interface ChangedOptions {
  /** A revision; true for the last commit. */
  readonly changed?: string | true
  readonly staged?: boolean
}

/** Files to lint, and a reader for content that is not in the working tree. */
export interface ChangedInputs {
  readonly names: readonly string[]
  /** Reads the staged content of a file. */
  readonly read?: (name: string) => AsyncIterable<Uint8Array>
}

/** Checks the combination of options and inputs. Errors: `USAGE`. */
export function requireChanged(
  inputs: readonly string[],
  { changed, staged, crawl, fix, fixSuggestions, fixDryRun }: ChangedOptions & Partial<FixingOptions> & { readonly crawl?: boolean },
): void {
  if (changed === undefined && !staged) return
  const option = staged ? '--staged' : '--changed'
  if (staged && changed !== undefined) throw usageError('--changed and --staged exclude each other')
  if (crawl) throw usageError(`${option} and --crawl exclude each other`)
  if (staged && (fix || fixSuggestions || fixDryRun))
    throw usageError('--staged and --fix exclude each other', 'fix the files and stage them again')
  const other = inputs.find((name) => name === '-' || isAddress(name))
  if (other !== undefined) throw usageError(`${option} accepts files and folders, not ${other === '-' ? 'stdin' : 'URLs'}`)
}

/**
 * Returns the changed files among the inputs, or below the current folder. Files have the same names as without the
 * option. Errors: those of `changedFiles`; `USAGE` for a missing input.
 */
export async function changedInputs(
  inputs: readonly string[],
  { changed, staged, ignore }: ChangedOptions & { readonly ignore?: readonly string[] },
  signal: AbortSignal,
): Promise<ChangedInputs> {
  const ref = changed === true || changed === undefined ? 'HEAD' : changed
  const files = staged ? await stagedFiles('.', signal) : await changedFiles('.', ref, signal)
  const names = new Map<string, GitFile>()
  for (const input of inputs.length > 0 ? inputs : ['.']) {
    if (input.startsWith('!') && !(await exists(input))) throw usageError(`no file matches ${input}`, whyNone(input))
    const found = await selected(input, files, ignore ?? [])
    if (found.length === 0 && !isGlob(input) && !(await exists(input)))
      throw usageError(`"${input}" is not a file or folder, and no changed file matches it`)
    for (const [name, file] of found) names.set(name, file)
  }
  const sorted = [...names.keys()].sort()
  const read = (name: string) => readBlob('.', names.get(name)?.blob ?? '', signal)
  return staged ? { names: sorted, read } : { names: sorted }
}

/** Returns the changed files that match one input, with their names. */
async function selected(
  input: string,
  files: readonly GitFile[],
  ignore: readonly string[],
): Promise<readonly (readonly [string, GitFile])[]> {
  if (isGlob(input) && !(await exists(input))) {
    const { matches } = await fileGlob(input)
    const here = await realpath('.')
    return files.flatMap((file) => {
      const name = isAbsolute(input) ? file.path : relative(here, file.path)
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

/** Resolves links in the existing part of a path: staged files may be deleted. */
async function realOf(path: string): Promise<string> {
  const absolute = resolve(path)
  return realpath(absolute).catch(async () => {
    const above = dirname(absolute)
    return above === absolute ? absolute : join(await realOf(above), basename(absolute))
  })
}

/** Returns `./-` for a file named `-`, which otherwise stands for stdin. */
function safe(name: string): string {
  return name === '-' ? `.${sep}-` : name
}
