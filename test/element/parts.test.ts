import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { english } from '../../src/element/strings.ts'
import { styles } from '../../src/element/styles.ts'
import { root } from '../architecture/files.ts'

const page = readFileSync(join(root, 'docs/element.md'), 'utf8')
const folder = join(root, 'src/element')
const sources = readdirSync(folder)
  .map((name) => readFileSync(join(folder, name), 'utf8'))
  .join('\n')

/** The names in the rows below a heading of a table, except those that begin with `<`. */
function named(heading: string): readonly string[] {
  const [, rows = ''] = page.split(`| ${heading} |`)
  const [table = ''] = rows.split('\n\n')
  return [...table.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name).sort()
}

const unique = (names: readonly string[]) => [...new Set(names)].sort()

describe('what pages may style and fill, as docs/element.md lists it', () => {
  it('are all parts of the source, each once', () => {
    const states = Object.keys(english).flatMap((name) => /^state\.(\w+)$/.exec(name)?.[1] ?? [])
    const written = [...sources.matchAll(/\bpart: ['`]([^'`]+)['`]/g)].flatMap(([, names = '']) => names.split(' '))
    const parts = written.flatMap((name) => {
      const [, start] = /^([\w-]+-)\$\{\w+\}?$/.exec(name) ?? []
      if (start === undefined) return [name]
      return (start === 'state-' ? states : ['primary', 'secondary']).map((end) => `${start}${end}`)
    })
    expect(parts.length).toBeGreaterThan(35)
    expect(named('part | what it is')).toEqual(unique(parts))
  })

  it('are all slots of the source, each once', () => {
    const slots = [...sources.matchAll(/element\('slot', \{ name: '([\w-]+)' \}\)/g)].map(([, name = '']) => name)
    expect(slots.length).toBe(2)
    const rows = page.split('| slot |')[1]?.split('\n\n')[0] ?? ''
    expect([...rows.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name).sort()).toEqual(unique(slots))
  })

  it('are all variables of the style sheet, each once', () => {
    const used = [...styles.matchAll(/var\(--stac-auth-([\w-]+)/g)].map(([, name = '']) => name)
    const listed = named('CSS variables | `--stac-auth-…`').filter((name) => name !== 'ground')
    const grounds = ['good', 'caution', 'bad'].map((name) => `${name}-ground`)
    expect([...listed.filter((name) => name !== '-ground'), ...grounds].sort()).toEqual(unique(used))
  })
})
