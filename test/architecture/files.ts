/** The files of the project, as the architecture tests see them. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { GENERATED } from '../../scripts/generated-code.ts'

/** Folder of the project, with a closing slash. */
export const root = fileURLToPath(new URL('../..', import.meta.url))

export interface SourceFile {
  /** Path from the project's root, with `/`. */
  readonly path: string
  readonly text: string
}

const NOT_OURS = new Set(['node_modules', 'dist', 'coverage', '.git'])
const BINARY = /\.(?:png|ico|tgz|parquet|tiff?)$/

/** Every text file that belongs to the project: nothing installed, built or measured. */
export function projectFiles(folder = ''): SourceFile[] {
  return readdirSync(root + folder, { withFileTypes: true })
    .filter(({ name }) => !NOT_OURS.has(name))
    .flatMap((entry) => {
      const path = folder + entry.name
      if (entry.isDirectory()) return projectFiles(`${path}/`)
      return entry.isFile() && !BINARY.test(path) ? [{ path, text: readFileSync(root + path, 'utf8') }] : []
    })
}

/** The TypeScript and JavaScript among them that people write. */
export function codeFiles(...folders: readonly string[]): SourceFile[] {
  return projectFiles().filter(
    ({ path }) => folders.includes(path.split('/')[0] ?? '') && /\.m?[jt]s$/.test(path) && !GENERATED.includes(path),
  )
}
