import { describe, expect, it } from 'vitest'
import { fileGlob } from '../../../src/cli/inputs/input-files.ts'

describe('a glob', () => {
  it.each([
    ['data\\**\\*.json', 'data', 'data\\2026\\item.json'],
    ['data/**/*.json', 'data', 'data\\2026\\item.json'],
    ['.\\data\\*.json', './data', 'data\\item.json'],
    ['C:\\data\\*.json', 'C:/data', 'C:\\data\\item.json'],
    ['..\\data\\{a,b}.json', '../data', '..\\data\\a.json'],
  ])('on Windows separates folders by / or \\: %s', async (glob, folder, path) => {
    const { matches, ...rest } = await fileGlob(glob, '\\')
    expect(rest).toEqual({ folder })
    expect([matches(path), matches(`${path}.txt`), matches(`x\\${path}`)]).toEqual([true, false, false])
  })

  it('elsewhere reads a backslash as the sign before a literal character', async () => {
    const { folder, matches } = await fileGlob('data/\\*.jso?', '/')
    expect([folder, matches('data/*.json'), matches('data/a.json')]).toEqual(['data', true, false])
  })
})
