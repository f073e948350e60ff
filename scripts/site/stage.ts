/** Puts the pages of the site together: the Markdown files of the project with links that fit their new places, and the sidebar. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'

/** Pages outside of docs/, by their paths. */
export const OTHERS: Readonly<Record<string, string>> = {
  'CHANGELOG.md': 'changelog.md',
  'CODE_OF_CONDUCT.md': 'code-of-conduct.md',
  'CONTRIBUTING.md': 'contributing.md',
  'SECURITY.md': 'security.md',
  'THIRD-PARTY.md': 'third-party.md',
  'fixtures/conformance/README.md': 'conformance.md',
  'examples/stac-browser/README.md': 'stac-browser.md',
  'examples/browser/map/README.md': 'example-map.md',
}

/** Where other linked files are. */
const FILES = 'files'

export interface SidebarSection {
  readonly text: string
  readonly items: readonly (SidebarSection | { readonly text: string; readonly link: string })[]
}

/** Copies all pages below `target`, and the files that they link to into its public folder. Returns the paths of the pages. */
export function stagePages(root: string, target: string): readonly string[] {
  const pages = new Map([
    ...markdownIn(root, 'docs').map((path) => [path, path === 'docs/README.md' ? 'index.md' : path.slice('docs/'.length)] as const),
    ...Object.entries(OTHERS),
  ])
  for (const [source, page] of pages) {
    const text = relinked(readFileSync(join(root, source), 'utf8'), source, page, pages, (path) => copyFile(root, target, path))
    mkdirSync(dirname(join(target, page)), { recursive: true })
    writeFileSync(join(target, page), text)
  }
  return [...pages.values()]
}

function markdownIn(root: string, folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => posix.join(folder, name.split('\\').join('/')))
}

/** Replaces the targets of links, outside of code. */
function relinked(text: string, source: string, page: string, pages: ReadonlyMap<string, string>, file: (path: string) => void): string {
  const parts = text.split(/(^```[\s\S]*?^```|`[^`\n]*`)/m)
  return parts
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part
            .replace(/<!--[\s\S]*?-->\n?/g, '')
            .replace(/(\]\()([^)\s]+)(\))/g, (_, start: string, link: string, end: string) => start + linkFor(link) + end),
    )
    .join('')

  function linkFor(link: string): string {
    const [path = '', anchor] = link.split('#')
    if (/^[a-z]+:/.test(link) || path === '') return link
    const wanted = posix.normalize(posix.join(posix.dirname(source), path))
    const known = wanted === 'README.md' ? 'index.md' : (pages.get(wanted) ?? pages.get(`${wanted.replace(/\/$/, '')}.md`))
    const hash = anchor === undefined ? '' : `#${anchor}`
    if (known !== undefined) return relative(page, known) + hash
    file(wanted)
    const name = servedName(wanted)
    return /\.(?:png|svg)$/.test(wanted) ? `/${FILES}/${name}` : `${relative(page, `${FILES}/${name}`)}${hash}`
  }
}

/** Servers hide names with a dot, and VitePress takes an unknown extension for a page. */
function servedName(path: string): string {
  const visible = path.replace(/(^|\/)\./g, '$1')
  return /\/$|\.(?:ts|json|mjs|js|html|py|png|svg)$/.test(visible) ? visible : `${visible}.txt`
}

function relative(from: string, to: string): string {
  const path = posix.relative(posix.dirname(from), to)
  return path.startsWith('.') ? path : `./${path}`
}

function copyFile(root: string, target: string, path: string): void {
  const source = join(root, path)
  if (!existsSync(source)) throw new Error(`a page links to ${path}, which does not exist`)
  const isFolder = statSync(source).isDirectory()
  const copy = join(target, 'public', FILES, isFolder ? path : servedName(path))
  mkdirSync(dirname(copy), { recursive: true })
  if (!isFolder) {
    cpSync(source, copy)
    return
  }
  mkdirSync(copy, { recursive: true })
  const names = readdirSync(source).filter((name) => statSync(join(source, name)).isFile())
  for (const name of names) cpSync(join(source, name), join(copy, name))
  const list = names.map((name) => `<li><a href="${encodeURIComponent(name)}">${name}</a></li>`).join('')
  writeFileSync(join(copy, 'index.html'), `<!doctype html><title>${path}</title><ul>${list}</ul>`)
}

/** Reads the sections of docs/README.md: headings with lists below them, and the links of these. */
export function sidebarOf(index: string): readonly SidebarSection[] {
  const sections: { text: string; items: { text: string; link: string }[] }[] = []
  for (const line of index.split('\n')) {
    const [, heading] = /^## (.+)$/.exec(line) ?? []
    if (heading !== undefined) sections.push({ text: heading, items: [] })
    const [, text, link] = /^- \[([^\]]+)\]\(([^)]+)\)/.exec(line) ?? []
    if (text !== undefined && link !== undefined) sections.at(-1)?.items.push({ text: text.replaceAll('`', ''), link })
  }
  return sections.filter(({ items }) => items.length > 0)
}
