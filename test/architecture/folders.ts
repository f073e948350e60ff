/** Rules about the folders of `src`. */

/** The most files in a folder; what grows beyond it has parts with names of their own. */
export const MOST_FILES = 26
/** What a folder should have; those above are named with their number. */
export const AIM = 20

/** Folders with one file per thing of a kind: they grow with what is supported. */
export const EXTENSION_POINTS: readonly string[] = [
  'src/adapters',
  'src/cli/commands',
  'src/lint/reporters',
  'src/lint/rules',
  'src/outputs',
  'src/providers',
  'src/strategies/http',
]

/** Folders between the aim and the limit: they may shrink, and a new one says why here. */
export const ABOVE_AIM: Readonly<Record<string, number>> = {
  'src/node/download': 21,
}

/** What is wrong with the folders of these files, one text each. */
export function folderProblems(paths: readonly string[]): readonly string[] {
  const inside = new Map<string, number>()
  const below = new Map<string, number>()
  for (const path of paths) {
    const folders = path.split('/').slice(0, -1)
    const own = folders.join('/')
    inside.set(own, (inside.get(own) ?? 0) + 1)
    for (let depth = 1; depth <= folders.length; depth++) {
      const folder = folders.slice(0, depth).join('/')
      below.set(folder, (below.get(folder) ?? 0) + 1)
    }
  }
  const large = [...inside].filter(([folder, files]) => !EXTENSION_POINTS.includes(folder) && files > mostOf(folder))
  const lonely = [...below].filter(([, files]) => files === 1)
  return [
    ...large.map(([folder, files]) => `${folder} has ${files} files, at most ${mostOf(folder)} are allowed`),
    ...lonely.map(([folder]) => `${folder} is a folder for one file`),
  ]
}

function mostOf(folder: string): number {
  return Math.min(ABOVE_AIM[folder] ?? AIM, MOST_FILES)
}
