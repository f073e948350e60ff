/** Writes the version of package.json where a file names it that nothing else generates. */
import { readdirSync } from 'node:fs'
import { MANIFEST } from '../run-time-packages.ts'
import { type Files, root } from './files.ts'

const patches = readdirSync(`${root}examples/stac-browser`).filter((name) => name.endsWith('.patch'))
const PLACES: readonly (readonly [file: string, before: RegExp])[] = [
  ['README.md', /(?<=stac-auth-)\d+\.\d+\.\d+(?=\.tgz)/g],
  ['docs/README.md', /(?<=stac-auth-)\d+\.\d+\.\d+(?=\.tgz)/g],
  ['README.md', /(?<=^Version )\d+\.\d+\.\d+/gm],
  ['docs/linting.md', /(?<=rev: v)\d+\.\d+\.\d+/g],
  ['docs/troubleshooting.md', /(?<=package: stac-auth )\d+\.\d+\.\d+/g],
  ['src/services/translation/translation-service.ts', /(?<=^export const PACKAGE_VERSION = ')[^']+/m],
  ...patches.map((name) => [`examples/stac-browser/${name}`, /(?<=^\+ {4}"stac-auth": "\^)[^"]+/m] as const),
]

const versioned = (path: string) => (text: string) =>
  PLACES.filter(([file]) => file === path).reduce((written, [, pattern]) => {
    if (!written.match(pattern)) throw new Error(`${path} does not name the version where ${pattern} expects it`)
    return written.replace(pattern, MANIFEST.version)
  }, text)

export const files: Files = Object.fromEntries(PLACES.map(([path]) => [path, versioned(path)]))
