/**
 * Writes the name of the packed file, the version and the addresses of package.json wherever a text names them. Until `repository` is set there, which
 * a release needs, texts have stand-ins for its address, and until `homepage` is set, findings link to the extension.
 */
import { docsSite, repositoryName } from '../repository.ts'
import { MANIFEST } from '../run-time-packages.ts'
import type { Files } from './files.ts'

type Published = Pick<typeof MANIFEST, 'name' | 'version' | 'repository' | 'homepage'>

/** Returns the name of the packed file, and the repository as `uses:` of a workflow names it and as git clones it. */
export function namesOf({ name, version, repository }: Published) {
  const address = repositoryName(repository)
  return {
    packed: `${name.replace('@', '').replace('/', '-')}-${version}.tgz`,
    action: address ?? 'OWNER/stac-auth',
    clone: address ? `https://github.com/${address}` : 'https://git.example/stac-auth',
  }
}

/** Places are found by what stands beside them: a name that one run writes is not a name that the next one knows. */
const PACKED = /(?<=npm (?:install|publish) (?:-g )?(?:\.|\/path\/to)\/)\S+\.tgz/g
const TAG = /(?<=(?:uses: [\w.-]+\/[\w.-]+@v|#v|--branch v|rev: v))\d+\.\d+\.\d+/g

/** Returns what writes the facts of a package.json, by the paths of the texts. */
export function publishedFiles(manifest: Published): Files {
  const { version, homepage } = manifest
  const { packed, action, clone } = namesOf(manifest)
  const places: readonly (readonly [file: string, written: RegExp, as: string])[] = [
    ['README.md', PACKED, packed],
    ['README.md', /(?<=^Version )\d+\.\d+\.\d+/gm, version],
    ['CONTRIBUTING.md', PACKED, packed],
    ['docs/README.md', PACKED, packed],
    ['docs/editors.md', PACKED, packed],
    ['docs/linting.md', TAG, version],
    ['docs/linting.md', /(?<=git clone --quiet --branch \S+ |- repo: )\S+/g, clone],
    ['docs/linting.md', /(?<=uses: )[\w.-]+\/[\w.-]+(?=@v\d+\.\d+\.\d+)/g, action],
    ['docs/pipelines.md', /(?<=registry\.example\/stac-auth:)\d+\.\d+\.\d+/g, version],
    ['docs/troubleshooting.md', /(?<=package: stac-auth )\d+\.\d+\.\d+/g, version],
    ['examples/stac-browser/README.md', PACKED, packed],
    ['src/lint/reporters/sarif.ts', /(?<=^const DOCS_SITE: string = ')[^']*/m, docsSite(homepage) ?? ''],
    ['src/services/translation/translation-service.ts', /(?<=^export const PACKAGE_VERSION = ')[^']+/m, version],
  ]
  const write = (path: string) => (text: string) =>
    places
      .filter(([file]) => file === path)
      .reduce((written, [, pattern, as]) => {
        if (!written.match(pattern)) throw new Error(`${path} does not name the package where ${pattern} expects it`)
        return written.replace(pattern, as)
      }, text)
  return Object.fromEntries(places.map(([path]) => [path, write(path)]))
}

export const files: Files = publishedFiles(MANIFEST)
