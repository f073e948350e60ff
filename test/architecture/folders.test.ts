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

  it('folders of src are all in the map of CONTRIBUTING.md', () => {
    const guide = projectFiles().find(({ path }) => path === 'CONTRIBUTING.md')?.text ?? ''
    expect([...folders].filter((folder) => folder !== 'src' && !mapOf(guide).includes(folder))).toEqual([])
    expect(mapOf(guide).filter((folder) => ![...folders].some((other) => `${other}/`.startsWith(`${folder}/`)))).toEqual([])
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
    expect(mapOf('```\nsrc/\n  index.ts   a\n  http/      b\n    basic/   c\n  lint/      d\n```\n')).toEqual([
      'src/http',
      'src/http/basic',
      'src/lint',
    ])
  })
})

/** The folders that the map names, by their indentation. */
function mapOf(guide: string): string[] {
  const map = guide.match(/^src\/\n((?: .*\n)+)/m)?.[1] ?? ''
  const path: string[] = []
  return map.split('\n').flatMap((line) => {
    const [, indentation = '', name] = line.match(/^( +)([\w-]+)\/ /) ?? []
    if (!name) return []
    path.splice(indentation.length / 2 - 1, Number.POSITIVE_INFINITY, name)
    return [`src/${path.join('/')}`]
  })
}
