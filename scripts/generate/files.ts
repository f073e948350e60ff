/** What the modules of this folder have in common: each exports `files`, which `npm run generate` writes or compares. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Texts by their paths from the root; a function changes what the file says now. */
export type Files = Readonly<Record<string, string | ((text: string) => string)>>

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** Reads the examples and texts of a code of the linter. */
export function ruleFixture(code: string) {
  const path = `fixtures/rules/${code}.json`
  if (!existsSync(join(root, path))) throw new Error(`${path} is missing: CONTRIBUTING.md says what it has, under "A rule of the linter"`)
  return JSON.parse(readFileSync(join(root, path), 'utf8'))
}

/** Replaces what stands below `<!-- generated: name -->` in a page, up to `<!-- end -->`. */
export function fill(parts: Readonly<Record<string, string>>): (page: string) => string {
  return (page) => {
    const names = [...page.matchAll(/<!-- generated: ([\w -]+) -->/g)].map(([, name = '']) => name)
    const wrong = [...names.filter((name) => !Object.hasOwn(parts, name)), ...Object.keys(parts).filter((name) => !names.includes(name))]
    if (wrong.length > 0) throw new Error(`only the page or only the generator knows ${wrong.join(', ')}`)
    return page.replace(
      /(<!-- generated: ([\w -]+) -->\n)[\s\S]*?(<!-- end -->)/g,
      (_all, open: string, name: string, close: string) => `${open}${parts[name]}${close}`,
    )
  }
}

/** A table of Markdown, whose cells may contain bars. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('')
}
