/** The INPUT arguments of `lint`, folders opened. */
import { readdir, realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { type AuthError, isAuthError } from '../errors.ts'
import { readFailure } from '../node/system-error.ts'
import { isAddress } from './read-document.ts'

/** One thing to lint, or why it cannot be. */
export type LintInput = { readonly name: string } | { readonly name: string; readonly error: AuthError }

/** Folders that hold no documents of a catalog's author. */
const SKIPPED = new Set(['node_modules', '.git'])

/**
 * Files, addresses and `-` as they are, and for a folder every `*.json` and `*.geojson` below it in the order of their
 * names. Symbolic links count only when they lead to a file below the same folder.
 */
export async function* lintInputs(inputs: readonly string[]): AsyncGenerator<LintInput> {
  for (const name of inputs) {
    if (name === '-' || isAddress(name)) yield { name }
    else yield* filesOf(name)
  }
}

async function* filesOf(name: string): AsyncGenerator<LintInput> {
  try {
    if ((await stat(name)).isDirectory()) yield* filesBelow(name, await realpath(name))
    else yield { name }
  } catch (error) {
    yield { name, error: readFailure(error, name) }
  }
}

async function* filesBelow(folder: string, root: string): AsyncGenerator<LintInput> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error) => readFailure(error, folder))
  if (isAuthError(entries)) return yield { name: folder, error: entries }
  entries.sort((one, other) => (one.name < other.name ? -1 : 1))
  for (const entry of entries) {
    const name = join(folder, entry.name)
    if (entry.isDirectory()) {
      if (!SKIPPED.has(entry.name)) yield* filesBelow(name, root)
    } else if (/\.(?:geo)?json$/i.test(entry.name) && (entry.isFile() || (entry.isSymbolicLink() && (await leadsBelow(name, root))))) {
      yield { name }
    }
  }
}

async function leadsBelow(link: string, root: string): Promise<boolean> {
  try {
    const target = await realpath(link)
    return target.startsWith(root + sep) && (await stat(target)).isFile()
  } catch {
    return false
  }
}
