import { readFileSync } from 'node:fs'
import { SaxesParser } from 'saxes'
import { describe, expect, it } from 'vitest'
import { root } from '../architecture/files.ts'

const session = readFileSync(`${root}fixtures/terminal-session.txt`, 'utf8').replace(/\x1b\[\d+m/g, '')

/** The rows of text in a picture, and every attribute of it. */
function read(name: string) {
  const rows: string[] = []
  const attributes: Record<string, string>[] = []
  let row: string | undefined
  const parser = new SaxesParser({ xmlns: false })
  parser.on('opentag', (tag) => {
    attributes.push(tag.attributes)
    if (tag.name === 'text') row = ''
  })
  parser.on('text', (text) => {
    if (row !== undefined) row += text
  })
  parser.on('closetag', ({ name: closed }) => {
    if (closed !== 'text' || row === undefined) return
    rows.push(row)
    row = undefined
  })
  parser.on('error', (error) => {
    throw error
  })
  parser.write(readFileSync(root + name, 'utf8')).close()
  return { rows, attributes, text: readFileSync(root + name, 'utf8') }
}

describe.each(['docs/terminal-light.svg', 'docs/terminal-dark.svg'])('the picture %s', (name) => {
  const { rows, attributes, text } = read(name)

  it(`${name} shows the recorded text, as text`, () => {
    const words = rows.flatMap((row) => row.trim().split(/\s+/)).filter((word) => word !== '…')
    expect(words.length).toBeGreaterThan(80)
    // A word that is longer than a row is broken into two.
    expect(words.filter((word) => !session.includes(word))).toEqual([])
    expect(rows.filter((row) => row.startsWith('$ '))).toEqual(session.split('\n').filter((line) => line.startsWith('$ ')))
  })

  it(`${name} loads nothing, and is narrow enough for letters of nine pixels on a phone`, () => {
    expect(text.match(/https?:\/\/[^\s"<]+/g)?.filter((url) => !/w3\.org\/2000\/svg$|127\.0\.0\.1/.test(url))).toEqual([])
    expect(text).not.toMatch(/<script|@import|@font-face|url\(|href=/)
    const [{ width, height } = {}] = attributes
    expect((344 / Number(width)) * 14).toBeGreaterThan(9)
    expect(Number(height)).toBeLessThan(800)
  })

  it(`${name} is in the README, with a description`, () => {
    const readme = readFileSync(`${root}README.md`, 'utf8')
    expect(readme).toContain(name)
    expect(readme).toMatch(/<img src="docs\/terminal-light\.svg" alt="[^"]{60,}">/)
  })
})

it('both pictures of the terminal show the same rows', () => {
  expect(read('docs/terminal-light.svg').rows).toEqual(read('docs/terminal-dark.svg').rows)
})
