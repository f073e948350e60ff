/** The names under which a package can be imported. */

/**
 * The keys of an `exports` map, with every pattern written out for the files that it finds in the package. What the map
 * takes back with `null` is left out; such a key is taken to be narrower than the one that gives.
 */
export function exportedNames(exports: Readonly<Record<string, unknown>>, files: readonly string[]): readonly string[] {
  const withdrawn = Object.keys(exports).filter((name) => exports[name] === null)
  return Object.keys(exports)
    .filter((name) => !withdrawn.includes(name))
    .flatMap((name) => (name.includes('*') ? writtenOut(name, fileOf(exports[name]), files) : [name]))
    .filter((name) => !withdrawn.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern)))
}

function writtenOut(name: string, target: string, files: readonly string[]): readonly string[] {
  const [before = '', after = ''] = target.replace('./', '').split('*')
  const matching = files.filter((path) => path.startsWith(before) && path.endsWith(after) && path.length > before.length + after.length)
  return matching.map((path) => name.replace('*', path.slice(before.length, path.length - after.length)))
}

/** The file of a target, below its conditions. */
function fileOf(target: unknown): string {
  return typeof target === 'object' && target !== null ? fileOf(Object.values(target)[0]) : String(target)
}
