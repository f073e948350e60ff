/**
 * Builds the documentation site into site/dist/html and checks it: every link and anchor resolves, every page is in the sidebar or linked
 * from another, and nothing is loaded from another host. `--pictures` first takes the pictures in docs/ from the real pages, where Debian's
 * Chromium is installed; `--serve` shows the site on loopback afterwards.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { entryPoints } from './api-surface.ts'
import { commandLine, refuse } from './command-line.ts'
import { problemsOf } from './site/check-html.ts'
import { OTHERS, sidebarOf, stagePages } from './site/stage.ts'

/** Options of TypeDoc: one page for each entry point. */
const FLAGS = ['--outputFileStrategy', 'modules', '--readme', 'none', '--entryFileName', 'modules', '--hideBreadcrumbs', '--disableSources']

const root = fileURLToPath(new URL('..', import.meta.url))
const site = join(root, 'site')
const out = join(site, 'dist')
const pages = join(out, 'pages')
const html = join(out, 'html')

const { values, positionals } = commandLine('npm run docs -- [--serve]', {
  pictures: { type: 'boolean', default: false },
  serve: { type: 'boolean', default: false },
})
if (positionals.length > 0) refuse(`unknown argument: ${positionals.join(', ')}. Usage: npm run docs -- [--serve]`)
if (values.pictures) takePictures()
if (needsInstall()) run('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], site)
for (const folder of [pages, html]) rmSync(folder, { recursive: true, force: true })
const staged = stagePages(root, pages)
const modules = apiPages()
const sections = sidebarOf(readFileSync(join(root, 'docs/README.md'), 'utf8'))
const missing = staged.filter((page) => !page.startsWith('rules/') && !linkedIn(page))
if (missing.length > 0) fail(['docs/README.md lacks these pages:', ...missing])
const api = { text: 'API', items: [{ text: 'Entry points', link: '/api/modules' }, ...modules] }
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const sidebar = [...sections.map(({ text, items }) => ({ text, items: items.map(forSidebar) })), api]
writeFileSync(join(out, 'sidebar.json'), JSON.stringify({ version, sidebar }))
run('npx', ['vitepress', 'build', '.'], site)
const problems = problemsOf(html)
if (problems.length > 0) fail(problems)
console.log(`${staged.length} pages and ${modules.length} pages of the API in site/dist/html: no broken link, nothing from other hosts`)
if (values.serve) run('npx', ['vitepress', 'preview', '.', '--host', '127.0.0.1'], site)

function takePictures(): void {
  if (!existsSync('/usr/bin/chromium')) {
    console.log('no Chromium: the pictures stay as they are')
    return
  }
  const tests = ['--mode', 'peers', 'test/peers/documentation-pictures.test.ts']
  run('env', [`PICTURES=${join(root, 'docs')}`, 'npx', 'vitest', 'run', ...tests], root)
}

/** npm writes the inner file at the end of an installation. */
function needsInstall(): boolean {
  const installed = join(site, 'node_modules/.package-lock.json')
  return !existsSync(installed) || statSync(installed).mtimeMs < statSync(join(site, 'package-lock.json')).mtimeMs
}

/** Writes a page for each entry point, from the types that users get. */
function apiPages(): readonly { readonly text: string; readonly link: string }[] {
  const entries = entryPoints()
  const config = join(out, 'tsconfig.json')
  const options = { target: 'es2023', module: 'nodenext', lib: ['es2023', 'dom', 'dom.iterable'], skipLibCheck: true, types: ['node'] }
  mkdirSync(out, { recursive: true })
  const types = { typeRoots: [join(root, 'node_modules/@types')] }
  writeFileSync(config, JSON.stringify({ compilerOptions: { ...options, ...types }, files: entries.map(({ path }) => join(root, path)) }))
  const flags = ['--tsconfig', config, '--out', join(pages, 'api'), '--plugin', 'typedoc-plugin-markdown', ...FLAGS]
  run('npx', ['typedoc', ...flags, ...entries.flatMap(({ path }) => ['--entryPoints', join(root, path)])], site)
  return entries.map(({ name, path }) => {
    const page = path.replace(/^dist\//, '').replace(/(?:\/index)?\.d\.ts$/, '')
    repairAnchors(join(pages, 'api', `${page}.md`))
    return { text: name, link: `/api/${page}` }
  })
}

/** TypeDoc counts a heading that it does not write: links to `name-1` then mean `name`. */
function repairAnchors(page: string): void {
  const headings = new Map<string, readonly string[]>()
  const count = (path: string, name: string) => {
    const known =
      headings.get(path) ?? [...readFileSync(path, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading.toLowerCase())
    headings.set(path, known)
    return known.filter((heading) => heading === name).length
  }
  const repaired = readFileSync(page, 'utf8').replace(/\]\(([^)#\s]*)#([a-z]+)-1\)/g, (link, path: string, name: string) => {
    const target = path === '' ? page : join(page, '..', path)
    return existsSync(target) && count(target, name) === 1 ? `](${path}#${name})` : link
  })
  writeFileSync(page, repaired)
}

function linkedIn(page: string): boolean {
  return page === 'index.md' || sections.some(({ items }) => items.some((item) => 'link' in item && pageOf(item.link) === page))
}

/** Returns the staged page of a link in docs/README.md. */
function pageOf(link: string): string {
  return OTHERS[link.replace(/^\.\.\//, '')] ?? link.replace(/#.*$/, '')
}

function forSidebar(item: object): { readonly text: string; readonly link: string } {
  const { text, link } = item as { readonly text: string; readonly link: string }
  return { text, link: `/${pageOf(link).replace(/\.md$/, '')}` }
}

function run(program: string, argv: readonly string[], cwd: string): void {
  const { status } = spawnSync(program, argv, { cwd, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

function fail(lines: readonly string[]): never {
  for (const line of lines) console.error(line)
  process.exit(1)
}
