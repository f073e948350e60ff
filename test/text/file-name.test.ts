import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { foldedName, forFileName, numberedName, partsOfName } from '../../src/text/file-name.ts'

const length = (text: string) => new TextEncoder().encode(text).length

describe('forFileName', () => {
  it.each([
    ['B04.tif', 'B04.tif'],
    ['../../etc/passwd', '_.._etc_passwd'],
    ['..', 'asset'],
    ['', 'asset'],
    [' . ', 'asset'],
    ['-rf', 'rf'],
    ['~root', 'root'],
    ['.bashrc', 'bashrc'],
    ['a.tif. ', 'a.tif'],
    ['C:\\x', 'C__x'],
    ['a\u0000b\nc', 'a_b_c'],
    ['a\u202egpj.exe', 'a_gpj.exe'],
    ['e\u0301', 'é'],
    ['CON', '_CON'],
    ['con.tar.gz', '_con.tar.gz'],
    ['COM¹.tif', '_COM¹.tif'],
    ['lpt9', '_lpt9'],
    ['COMMON.tif', 'COMMON.tif'],
    ['x.part', 'x.part_'],
    ['x.part.json', 'x.part.json_'],
    ['\ud800', '\ufffd'],
  ])('makes of %j the name %j', (text, name) => {
    expect(forFileName(text)).toBe(name)
  })

  it('keeps the extension of a name that is too long', () => {
    const name = forFileName(`${'ä'.repeat(300)}.tif`)
    expect(name).toMatch(/^ä+\.tif$/)
    expect(length(name)).toBeLessThanOrEqual(200)
  })

  it('returns one segment that no file system takes for anything else, and gives that again', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
        const name = forFileName(text)
        expect(name).not.toMatch(/[/\\:*?"<>|\0-\x1f\x7f-\x9f]|^[. \-~]|[. ]$/)
        expect(length(name)).toBeLessThanOrEqual(200)
        expect(name.length).toBeGreaterThan(0)
        expect(forFileName(name)).toBe(name)
      }),
    )
  })
})

describe('names that are much alike', () => {
  it('names that are much alike are one where a file system thinks so', () => {
    expect(foldedName('Ä.TIF')).toBe(foldedName('a\u0308.tif'))
    expect(foldedName('a.tif')).not.toBe(foldedName('b.tif'))
  })

  it('names that are much alike are distinguished by a number before the extension', () => {
    expect(numberedName('a.tar.gz', 2)).toBe('a.tar~2.gz')
    expect(numberedName('README', 3)).toBe('README~3')
    expect(length(numberedName(`${'ä'.repeat(98)}.tif`, 12))).toBeLessThanOrEqual(200)
    expect(partsOfName('.x')).toEqual({ stem: '.x', extension: '' })
  })
})
