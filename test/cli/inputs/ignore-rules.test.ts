import { execFileSync } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ignoreRules, isIgnored } from '../../../src/cli/inputs/input-files.ts'
import { put, temporaryFolder } from '../folder.ts'

const folder = await temporaryFolder()
execFileSync('git', ['init', '-q', folder])

/** What Git leaves out of the paths of files, for each list of patterns: all are asked for at once, in a folder for each list. */
async function leftOutByGit(lists: readonly (readonly string[])[], paths: readonly string[]): Promise<readonly (readonly string[])[]> {
  for (const [index, patterns] of lists.entries()) {
    await mkdir(join(folder, `${index}`), { recursive: true })
    await put(join(folder, `${index}`), '.gitignore', `${patterns.join('\n')}\n`)
  }
  const asked = lists.flatMap((_, index) => paths.map((path) => `${index}/${path}\0`))
  const found = ignoredOf(asked.join('')).split('\0')
  return lists.map((_, index) => found.filter((path) => path.startsWith(`${index}/`)).map((path) => path.slice(`${index}/`.length)))
}

function ignoredOf(input: string): string {
  try {
    const options = { cwd: folder, input, env: { PATH: process.env.PATH, HOME: folder } }
    const output = execFileSync(
      'git',
      ['-c', 'core.excludesFile=', '-c', 'core.ignoreCase=false', 'check-ignore', '-z', '--no-index', '--stdin'],
      options,
    )
    return output.toString()
  } catch (error) {
    if ((error as { status?: number }).status === 1) return ''
    throw error
  }
}

/** The same by our reading: a file in a folder that is left out is left out. */
function leftOut(patterns: readonly string[], paths: readonly string[]): readonly string[] {
  const rules = [ignoreRules(folder, patterns.join('\n'))]
  return paths.filter((path) => {
    const above: string[] = []
    for (let up = dirname(path); up !== '.'; up = dirname(up)) above.unshift(up)
    return above.some((one) => isIgnored(rules, join(folder, one), true)) || isIgnored(rules, join(folder, path), false)
  })
}

const NAMES = 'a|b|ab|a/a|a/b|b/a|a/b/c|b/a/b|a/c/d/b|abc|a/ab|a-b|a]|a!|#a|!a|a b|a |.a|.a/b|x/.a/b'
const FOLDERS = 'b|ab|a*|a[b|a\\b|#a|!a|a |c/b|c/ab/b|c/d/e/b'
const PATHS = [...NAMES.split('|').map((path) => `${path}.f`), ...FOLDERS.split('|')]

describe('ignoreRules', () => {
  it.each([
    [['*.f']],
    [['a/']],
    [['/a.f', 'a/*', '!a/b.f']],
    [['**/b', 'c/**/b', 'a/**']],
    [['a/**/b.f', '!a/b.f']],
    [['[!a].f', '[a-c]b*', '[]a]*', '[[:alpha:]].f']],
    [['\\#a', '\\!a', '# a comment', '', 'a\\ ', 'b   ']],
    [['a\\*', 'a\\[b', 'a[b', 'a\\']],
    [['*', '!*/', '!*.f']],
    [['**', '!b']],
    [['/', '//', '***', 'c/***/b']],
    [['.*', '!.a/']],
    [['a\\/**', 'c\\\\/b', 'b\\/']],
  ])('reads %j as Git does', async (patterns) => {
    expect([leftOut(patterns, PATHS)]).toEqual(await leftOutByGit([patterns], PATHS))
  })

  it('reads any patterns as Git does', async () => {
    const piece = fc.constantFrom(...'a|b|c|*|**|?|/|/|!|.|.f|[ab]|[!a]|[a-c]|\\| |#|d/|**/|/**'.split('|'))
    // gitignore(5) does not say what two asterisks within a name are, and Git reads them in more than one way.
    const isDefined = (text: string) => !/[^/]\*\*|\*\*[^/]/.test(text.replace(/^!/, ''))
    const pattern = fc
      .array(piece, { minLength: 1, maxLength: 6 })
      .map((pieces) => pieces.join(''))
      .filter(isDefined)
    const list = fc.array(pattern, { minLength: 1, maxLength: 4 })
    // Three hundred lists, of which a hundred are asked for at a time: most of the time went into starting Git.
    await fc.assert(
      fc.asyncProperty(fc.array(list, { minLength: 100, maxLength: 100 }), async (lists) => {
        const byGit = await leftOutByGit(lists, PATHS)
        for (const [index, patterns] of lists.entries()) expect([patterns, leftOut(patterns, PATHS)]).toEqual([patterns, byGit[index]])
      }),
      { numRuns: 3 },
    )
  }, 120_000)

  it('ignoreRules is quick with patterns that would take others forever', () => {
    const rules = [ignoreRules('/x', `${'*a'.repeat(40)}b\n${'**/'.repeat(60)}z`)]
    expect(isIgnored(rules, `/x/${'a/'.repeat(200)}${'a'.repeat(250)}`, false)).toBe(false)
  })
})
