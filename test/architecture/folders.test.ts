import { describe, expect, it } from 'vitest'
import { projectFiles } from './files.ts'
import { ABOVE_AIM, AIM, EXTENSION_POINTS, folderProblems, MOST_FILES } from './folders.ts'

const sources = projectFiles('src/').map(({ path }) => path)
const folders = new Set(sources.map((path) => path.slice(0, path.lastIndexOf('/'))))
const files = (count: number, folder: string) => Array.from({ length: count }, (_, index) => `${folder}/a${index}.ts`)

describe('folders of src', () => {
  it(`have at most ${AIM} files, or the number that is written for them, and never one`, () => {
    expect(sources.length).toBeGreaterThan(300)
    expect(folderProblems(sources)).toEqual([])
  })

  it('folders of src that are named here exist', () => {
    expect([...EXTENSION_POINTS, ...Object.keys(ABOVE_AIM)].filter((folder) => !folders.has(folder))).toEqual([])
  })

  it(`are never allowed more than ${MOST_FILES} files`, () => {
    expect(Object.values(ABOVE_AIM).filter((most) => most > MOST_FILES || most <= AIM)).toEqual([])
  })

  it('the first folders of src are all in the map of CONTRIBUTING.md', () => {
    const guide = projectFiles().find(({ path }) => path === 'CONTRIBUTING.md')?.text ?? ''
    const first = new Set([...folders].flatMap((folder) => folder.split('/').slice(1, 2)))
    expect(mapOf(guide)).toEqual(expect.arrayContaining([...first]))
    expect(mapOf(guide).filter((folder) => !first.has(folder))).toEqual([])
  })
})

describe('the check of folders', () => {
  it('refuses one file too many', () => {
    expect(folderProblems(files(AIM, 'src/http'))).toEqual([])
    expect(folderProblems(files(AIM + 1, 'src/http'))).toEqual([expect.stringMatching(/^src\/http has 21 files/)])
    expect(folderProblems(files(MOST_FILES + 1, 'src/auth'))).toHaveLength(1)
  })

  it('lets extension points grow', () => {
    expect(folderProblems(files(90, 'src/lint/rules'))).toEqual([])
  })

  it('refuses a folder for one file, and accepts a folder of folders', () => {
    expect(folderProblems([...files(3, 'src/http'), 'src/http/inner/a.ts'])).toEqual(['src/http/inner is a folder for one file'])
    expect(folderProblems(files(2, 'src/services/client'))).toEqual([])
  })

  it('reads the map', () => {
    expect(mapOf('```\nsrc/\n  index.ts   a\n  http/      b\n  lint/      d\ntest/   e\n```\n')).toEqual(['http', 'lint'])
  })
})

/** The folders that the map names below `src`. */
function mapOf(guide: string): readonly string[] {
  const map = guide.match(/^src\/\n((?: .*\n)+)/m)?.[1] ?? ''
  return map.split('\n').flatMap((line) => line.match(/^ {2}([\w-]+)\/ /)?.slice(1, 2) ?? [])
}
