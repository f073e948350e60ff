/**
 * Writes the version and the address of package.json wherever a text names them. Until `repository` is set there, which a release needs, texts
 * have stand-ins for the address.
 */
import { readdirSync } from 'node:fs'
import { repositoryName } from '../repository.ts'
import { MANIFEST } from '../run-time-packages.ts'
import { type Files, root } from './files.ts'

const name = repositoryName(MANIFEST.repository)
/** As `uses:` of a workflow names it, and as git clones it. */
export const ACTION = name ?? 'OWNER/stac-auth'
export const CLONE = name ? `https://github.com/${name}` : 'https://git.example/stac-auth'

const TARBALL = /(?<=\bstac-auth-)\d+\.\d+\.\d+(?=\.tgz)/g
const TAG = /(?<=(?:stac-auth@v|#v|--branch v|rev: v))\d+\.\d+\.\d+/g
const CLONED = /https:\/\/(?:git\.example|github\.com\/[\w.-]+)\/stac-auth\b/g
const patches = readdirSync(`${root}examples/stac-browser`).filter((file) => file.endsWith('.patch'))
const PLACES: readonly (readonly [file: string, written: RegExp, as?: string])[] = [
  ['README.md', TARBALL],
  ['README.md', /(?<=^Version )\d+\.\d+\.\d+/gm],
  ['docs/README.md', TARBALL],
  ['docs/linting.md', TAG],
  ['docs/linting.md', CLONED, CLONE],
  ['docs/linting.md', /(?<=uses: )[\w.-]+\/stac-auth(?=@)/g, ACTION],
  ['docs/editors.md', TARBALL],
  ['docs/pipelines.md', /(?<=registry\.example\/stac-auth:)\d+\.\d+\.\d+/g],
  ['docs/troubleshooting.md', /(?<=package: stac-auth )\d+\.\d+\.\d+/g],
  ['src/services/translation/translation-service.ts', /(?<=^export const PACKAGE_VERSION = ')[^']+/m],
  ...patches.map((file) => [`examples/stac-browser/${file}`, /(?<=^\+ {4}"stac-auth": "\^)[^"]+/m] as const),
]

const published = (path: string) => (text: string) =>
  PLACES.filter(([file]) => file === path).reduce((written, [, pattern, as = MANIFEST.version]) => {
    if (!written.match(pattern)) throw new Error(`${path} does not name the package where ${pattern} expects it`)
    return written.replace(pattern, as)
  }, text)

export const files: Files = Object.fromEntries(PLACES.map(([path]) => [path, published(path)]))
