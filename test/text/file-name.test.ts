import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { foldedName, forFileName, nameInAddress, numberedName, partsOfName, plainSuffix } from '../../src/text/file-name.ts'

const length = (text: string) => new TextEncoder().encode(text).length

describe('the name in an address', () => {
  it.each([
    ['https://a.example/b/c/B04.tif', 'B04.tif'],
    ['https://a.example/b/B04.tif?x=1/2#d/e', 'B04.tif'],
    ['https://a.example/b/B04.tif#d?e\nf', 'B04.tif'],
    ['s3://bucket/B04.tif', 'B04.tif'],
    ['b/B04.tif', 'B04.tif'],
    ['B04.tif', 'B04.tif'],
    ['https://a.example/name/https://b.example', 'b.example'],
    ['a/x:https://b.example', 'b.example'],
    ['https://a.example', 'asset'],
    ['https://a.example/b/', 'asset'],
    ['https://a.example/T%C3%A4ler%2F..%2FB%2504.tif', 'Täler_.._B%04.tif'],
    ['https://a.example/100%.tif', '100%.tif'],
  ])('is, for %j, %j', (href, name) => {
    expect(nameInAddress(href)).toBe(name)
  })
})

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
    ['CONSOLE', 'CONSOLE'],
    ['xcon', 'xcon'],
    ['a.con', 'a.con'],
    ['a.part.tif', 'a.part.tif'],
    ['x.part', 'x.part_'],
    ['x.part.json', 'x.part.json_'],
    ['\ud800', '\ufffd'],
  ])('makes of %j the name %j', (text, name) => {
    expect(forFileName(text)).toBe(name)
  })

  it('takes time linear in the length of the text', () => {
    expect(forFileName(`a${' '.repeat(200_000)}x`)).toBe('a')
  })

  it('returns no name of a device or a partial file when it shortens a name', () => {
    expect(forFileName(`con${' '.repeat(250)}x`)).toBe('_con')
    expect(forFileName(`${'a'.repeat(195)}.part${'b'.repeat(50)}`)).toBe(`${'a'.repeat(194)}.part_`)
    expect(forFileName(`${'a'.repeat(190)}.part.json${'b'.repeat(50)}`)).toMatch(/^a+\.par\.json_$/)
    expect(forFileName(`con.${'x'.repeat(185)}.partZ.json`)).not.toMatch(/\.part\.json$/)
  })

  it('keeps the extension of a name that is too long', () => {
    const name = forFileName(`${'ä'.repeat(300)}.tif`)
    expect(name).toMatch(/^ä+\.tif$/)
    expect(length(name)).toBeLessThanOrEqual(200)
  })

  it('shortens what is longer than 200 bytes, and nothing else', () => {
    expect(forFileName('a'.repeat(200))).toBe('a'.repeat(200))
    expect(forFileName('a'.repeat(201))).toBe('a'.repeat(200))
    expect(forFileName(`${'a'.repeat(197)}.tif`)).toBe(`${'a'.repeat(196)}.tif`)
    expect(forFileName(`${'ä'.repeat(100)}.tif`)).toBe(`${'ä'.repeat(98)}.tif`)
    expect(forFileName(`${'a'.repeat(195)}  x.tif`)).toBe(`${'a'.repeat(195)}.tif`)
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
    expect(foldedName('ß.tif')).not.toBe(foldedName('ss.tif'))
  })

  it('names that are much alike are distinguished by a number before the extension', () => {
    expect(numberedName('a.tar.gz', 2)).toBe('a.tar~2.gz')
    expect(numberedName('README', 3)).toBe('README~3')
    expect(length(numberedName(`${'ä'.repeat(98)}.tif`, 12))).toBeLessThanOrEqual(200)
    expect(partsOfName('.x')).toEqual({ stem: '.x', extension: '' })
  })
})

describe('the suffix that a server proposes', () => {
  it.each([
    ['a.tif', '.tif'],
    ['a.TIF', '.TIF'],
    ['B04.v2.tif', '.tif'],
    ['a.tar.gz', '.tar.gz'],
    ['a.json.GZ', '.json.GZ'],
    ['a.exe.gz', '.gz'],
    ['a.gz', '.gz'],
    ['a.tar.xgz', '.xgz'],
    ['a.tar.gzx', '.gzx'],
    ['a.exes', '.exes'],
    ['a.mp4', '.mp4'],
    ['a.1', ''],
    ['a.123', ''],
    ['a', ''],
    ['.tif', ''],
    ['folder/.tif', ''],
    ['a.', ''],
    ['a.t~f', ''],
    ['a.tif ', ''],
    ['a.EXE', ''],
    ['a.sh', ''],
    ['a.part', ''],
    ['a.tif.lnk', ''],
    ['a.abcdefghijklmno', '.abcdefghijklmno'],
    ['a.abcdefghijklmnop', ''],
    ['a.abcdefghij.xz', '.abcdefghij.xz'],
    ['a.abcdefghijk.bz2', '.bz2'],
    ['a.abcdefghij.zst', '.abcdefghij.zst'],
    [`${'x'.repeat(300)}.tif`, '.tif'],
  ])('of %s is %j', (name, suffix) => {
    expect(plainSuffix(name)).toBe(suffix)
  })
})
