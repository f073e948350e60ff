/** Links of the documentation: every target and anchor is there, and every page can be reached from the README. */
import { posix } from 'node:path'
import { expect, it } from 'vitest'
import { projectFiles } from './files.ts'

const files = new Map(projectFiles().map(({ path, text }) => [path, text]))
const folders = new Set([...files.keys()].flatMap((path) => [posix.dirname(path), posix.dirname(posix.dirname(path))]))
const pages = [...files.keys()].filter((path) =>
  /^(?:README|CONTRIBUTING|SECURITY|CHANGELOG|THIRD-PARTY|CODE_OF_CONDUCT)\.md$|^(?:docs|fixtures|examples)\/.*\.md$/.test(path),
)

/** Targets of links, without code. */
function linksOf(page: string): readonly string[] {
  const text = (files.get(page) ?? '').replace(/```[\s\S]*?```/g, '').replace(/`[^`\n]*`/g, '')
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
}

/** Names of the headings, as GitHub makes them. */
function anchorsOf(page: string): ReadonlySet<string> {
  const text = (files.get(page) ?? '').replace(/```[\s\S]*?```/g, '')
  const anchors = new Set<string>()
  for (const [, heading = ''] of text.matchAll(/^#{1,6} (.+)$/gm)) {
    const name = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-')
    const again = [...anchors].filter((one) => one === name || one.startsWith(`${name}-`)).length
    anchors.add(anchors.has(name) ? `${name}-${again}` : name)
  }
  return anchors
}

const internal = (target: string) => !/^[a-z]+:/.test(target)

function pathOf(page: string, target: string): string {
  const path = target.replace(/#.*$/, '')
  return path === '' ? page : posix.normalize(posix.join(posix.dirname(page), path))
}

it('every link of a page leads to a file or folder, and every anchor to a heading', () => {
  const broken = pages.flatMap((page) =>
    linksOf(page)
      .filter(internal)
      .filter((target) => {
        const path = pathOf(page, target)
        const [, anchor] = target.split('#')
        if (!files.has(path) && !folders.has(path.replace(/\/$/, '')) && !/\.(?:png|svg|html)$|^LICENSE$/.test(path)) return true
        return anchor !== undefined && path.endsWith('.md') && !anchorsOf(path).has(anchor)
      })
      .map((target) => `${page}: ${target}`),
  )
  expect(broken).toEqual([])
})

it('every page can be reached from the README', () => {
  const reached = new Set(['README.md'])
  for (const page of reached) {
    for (const target of linksOf(page).filter(internal)) if (pages.includes(pathOf(page, target))) reached.add(pathOf(page, target))
  }
  expect(pages.filter((page) => !reached.has(page))).toEqual([])
})

it('no line of a page is longer than 500 characters, but for rows of tables that are generated', () => {
  const generated = /^docs\/(?:rules\/|api\.md|errors\.md|rules\.md)/
  const long = pages
    .filter((page) => !generated.test(page))
    .flatMap((page) => (files.get(page) ?? '').split('\n').flatMap((line, index) => (line.length > 500 ? `${page}:${index + 1}` : [])))
  expect(long).toEqual([])
})

it('the README fits on few screens', () => {
  const lines = (files.get('README.md') ?? '').split('\n')
  expect(lines.length).toBeLessThanOrEqual(200)
  expect(lines.filter((line) => line.length > 500)).toEqual([])
})
