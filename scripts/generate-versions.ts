/** Writes the version of package.json where a file names it that nothing else generates. */
import { readdirSync, readFileSync } from 'node:fs'
import { checkOnly, emit } from './emit.ts'
import { MANIFEST } from './run-time-packages.ts'

const root = new URL('../', import.meta.url)
const patches = readdirSync(new URL('examples/stac-browser/', root)).filter((name) => name.endsWith('.patch'))
const PLACES: readonly (readonly [file: string, before: RegExp])[] = [
  ['README.md', /(?<=stac-auth-)\d+\.\d+\.\d+(?=\.tgz)/g],
  ['docs/README.md', /(?<=stac-auth-)\d+\.\d+\.\d+(?=\.tgz)/g],
  ['README.md', /(?<=^Version )\d+\.\d+\.\d+/gm],
  ['docs/linting.md', /(?<=rev: v)\d+\.\d+\.\d+/g],
  ['docs/troubleshooting.md', /(?<=package: stac-auth )\d+\.\d+\.\d+/g],
  ['src/services/translation/translation-service.ts', /(?<=^export const PACKAGE_VERSION = ')[^']+/m],
  ...patches.map((name) => [`examples/stac-browser/${name}`, /(?<=^\+ {4}"stac-auth": "\^)[^"]+/m] as const),
]

for (const [file, pattern] of PLACES) {
  const url = new URL(file, root)
  const text = readFileSync(url, 'utf8')
  if (!text.match(pattern)) throw new Error(`${file} does not name the version where ${pattern} expects it`)
  emit(url, text.replace(pattern, MANIFEST.version), checkOnly())
}
