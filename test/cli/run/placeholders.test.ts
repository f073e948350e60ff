import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Placeholders, substitute } from '../../../src/cli/run/placeholders.ts'
import type { AuthError } from '../../../src/errors.ts'

const target = (document: string, key: string) => ({ document, key, url: `http://127.0.0.1:1/c/https/data.example/${document}/${key}` })
const url = (path: string) => `http://127.0.0.1:1/c/https/data.example/${path}`
const ONE: Placeholders = {
  targets: ['B04', 'B08', 'Band 1', 'B04/s3', 'url:x'].map((key) => target('i', key)),
  catalog: 'http://127.0.0.1:1/c/https/data.example/i.json',
}
const TWO: Placeholders = { targets: [target('i', 'B04'), target('j', 'B04'), target('j', 'only')], catalog: undefined }

const args = (program: string, ...given: string[]) => substitute([program, ...given], ONE).slice(1)
const refusal = (given: string, placeholders = ONE) => {
  try {
    return substitute(['curl', given], placeholders)
  } catch (error) {
    const { code, message, hint } = error as AuthError
    return { code, message, hint }
  }
}

describe('placeholders', () => {
  it('stand for the URL of a target, anywhere in an argument and as often as they occur', () => {
    expect(args('curl', '{B04}', '-o', 'a={B08},{B04/s3}')).toEqual([url('i/B04'), '-o', `a=${url('i/B08')},${url('i/B04/s3')}`])
    expect(args('curl', '{Band 1}')).toEqual([url('i/Band 1')])
  })

  it('are file names of GDAL for its programs, wherever these are installed', () => {
    for (const program of ['gdalinfo', '/usr/bin/gdal_translate', 'gdal_merge.py', 'qgis_process', 'ogr2ogr', 'rio', 'C:/x/rio.exe'])
      expect(args(program, '{B04}')).toEqual([`/vsicurl/${url('i/B04')}`])
    for (const program of ['curl', 'riot', 'xqgis', 'python3', 'my-gdalinfo']) expect(args(program, '{B04}')).toEqual([url('i/B04')])
  })

  it('are file names that QGIS leaves as they are, for its programs', () => {
    const named = {
      targets: [{ document: 'i', key: 'odd', url: 'http://127.0.0.1:1/c/https/h.example/a//b/../.c/d+e%20f?g&h/' }],
      catalog: undefined,
    }
    const escaped = 'http:%2F/127.0.0.1:1/c/https/h.example/a%2F/b%2F..%2F.c/d%2Be%2520f?g%26h%2F'
    for (const program of ['qgis', '/usr/bin/qgis.bin', 'C:/x/qgis-ltr-bin.exe'])
      expect(substitute([program, '{odd}', '{vsi:odd}'], named).slice(1)).toEqual([`/vsicurl?url=${escaped}`, `/vsicurl?url=${escaped}`])
    expect(posix.normalize(`/vsicurl?url=${escaped}`)).toBe(`/vsicurl?url=${escaped}`)
    expect(decodeURIComponent(escaped)).toBe(named.targets[0]?.url)
  })

  it('have the form that they name', () => {
    expect(args('gdalinfo', '{url:B04}', '{vsi:B04}')).toEqual([url('i/B04'), `/vsicurl/${url('i/B04')}`])
    expect(args('curl', '{url:B04}', '{vsi:B04}', '{url:url:x}')).toEqual([url('i/B04'), `/vsicurl/${url('i/B04')}`, url('i/url:x')])
  })

  it('give the first document as a URL, and as a file name of GDAL where that is asked for', () => {
    expect(args('gdalinfo', '{catalog}', '{vsi:catalog}')).toEqual([ONE.catalog, `/vsicurl/${ONE.catalog}`])
  })

  it('name the document where several have the key', () => {
    expect(substitute(['curl', '{j/B04}', '{only}'], TWO)).toEqual(['curl', url('j/B04'), url('j/only')])
    expect(refusal('{B04}', TWO)).toEqual({
      code: 'TARGET_NOT_FOUND',
      message: '{B04} is ambiguous: 2 documents have a target "B04"',
      hint: 'use one of: {i/B04}, {j/B04}',
    })
  })

  it('are refused where there is no such target, with those that there are', () => {
    expect(refusal('{b-04}')).toEqual({
      code: 'TARGET_NOT_FOUND',
      message: 'unknown placeholder {b-04}',
      hint: 'did you mean {B04}?\nthe targets are: B04, B08, Band 1, B04/s3, url:x\nwrite {{b-04}} for {b-04} itself',
    })
    expect(refusal('{B05}', TWO)).toMatchObject({ hint: expect.stringContaining('the targets are: i/B04, j/B04, only') })
    expect(refusal('{constructor}')).toMatchObject({ code: 'TARGET_NOT_FOUND' })
  })

  it('are refused for a document without a URL', () => {
    for (const name of ['{catalog}'])
      expect(refusal(name, TWO)).toMatchObject({ code: 'TARGET_NOT_FOUND', hint: 'give the document by its URL' })
  })

  it('are none where the text in braces is of another language, or written twice', () => {
    const others = ['%{http_code}', ['$', '{B04}'].join(''), '{}', '{print $1}', '{"B04": 1}', '{"a":{"b":1}}', '{a,b}', 'x{1,2}']
    expect(args('sh', ...others)).toEqual(others)
    expect(args('sh', '{{B04}}', '{{nothing}} {B08}')).toEqual(['{B04}', `{nothing} ${url('i/B08')}`])
  })

  it('never become a part of a script with characters that a document could use for commands of its own', () => {
    const hostile = [
      'a;id',
      'a&id',
      'a|id',
      'a$(id)',
      'a?`id`',
      "a');import('os')#",
      'a"',
      'a b',
      'a\nb',
      'a!x',
      "a'--",
      'a<b',
      'a\\b',
      'a{b}',
    ]
    for (const end of hostile) {
      const placeholders = { targets: [{ document: 'i', key: 'x', url: url(end) }], catalog: url(end) }
      const scripts = ['gdalinfo {x}', "SELECT * FROM '{x}'", '"{url:x}"', 'open({vsi:x})', 'a;{catalog}', '{x}{x} ', "'{i/x}'"]
      for (const script of scripts) {
        expect(() => substitute(['sh', '-c', script], placeholders)).toThrow(
          expect.objectContaining({ code: 'USAGE', hint: expect.stringContaining('an argument of its own') }),
        )
      }
      expect(substitute(['sh', '-c', 'gdalinfo "$1"', 'sh', '{x}', '--url={x}', 'NETCDF:{x}:t2m'], placeholders).slice(4)).toEqual([
        url(end),
        `--url=${url(end)}`,
        `NETCDF:${url(end)}:t2m`,
      ])
    }
    expect(args('sh', '-c', 'gdalinfo "{B04}" | head')).toEqual(['-c', `gdalinfo "${url('i/B04')}" | head`])
    expect(args('sh', '-c', 'echo "{{B04}}" {print $1}')).toEqual(['-c', 'echo "{B04}" {print $1}'])
  })

  it('are read as a script behind a program that joins its arguments, also as arguments of their own', () => {
    const behind = (words: readonly string[], end: string) =>
      substitute([...words, '{x}'], { targets: [{ document: 'i', key: 'x', url: url(end) }], catalog: undefined })
    const joining = [
      ['cmd', '/c', 'gdalinfo.bat'],
      ['C:\\Windows\\System32\\CMD.EXE', '/c', 'x'],
      ['powershell', '-Command', 'gdalinfo'],
      ['pwsh', '-c', 'gdalinfo'],
      ['wsl', 'gdalinfo'],
      ['ssh', 'host', 'gdalinfo'],
      ['parallel', 'gdalinfo', ':::'],
      ['/usr/bin/watch', 'gdalinfo'],
      ['env', 'A=1', 'watch', 'gdalinfo'],
    ]
    for (const words of joining) {
      for (const end of ['a&calc&.tif', 'a;id', 'a$(id)', 'a|id'])
        expect(() => behind(words, end)).toThrow(
          expect.objectContaining({ code: 'USAGE', hint: expect.stringContaining('STAC_AUTH_GATEWAY_MAP') }),
        )
      expect(behind(words, 'a.tif?b=[1]').at(-1)).toBe(url('a.tif?b=[1]'))
    }
    expect(() => behind(['cmd', '/c', 'x'], '%TEMP%/a')).toThrow(expect.objectContaining({ code: 'USAGE' }))
    expect(behind(['watch', 'x'], 'a%20b').at(-1)).toBe(url('a%20b'))
    for (const words of [['cmder'], ['curl'], ['watchman', 'x']]) expect(behind(words, 'a&b').at(-1)).toBe(url('a&b'))
  })

  it('lead to no target of another document that has taken the name as its key', () => {
    const taken = (key: string): Placeholders => ({ targets: [target('i', 'B04'), target('evil', key)], catalog: undefined })
    for (const key of ['i/B04', 'url:B04', 'vsi:B04', 'vsi:i/B04'])
      expect(refusal(`{${key}}`, taken(key))).toMatchObject({ code: 'TARGET_NOT_FOUND', message: expect.stringContaining('ambiguous') })
    const twins = { targets: [target('i', 'B04'), target('i', 'B04')], catalog: undefined }
    expect(refusal('{i/B04}', twins)).toMatchObject({ hint: expect.stringContaining('one at a time') })
  })

  it('are not looked for in the name of the program', () => {
    expect(substitute(['{B04}'], ONE)).toEqual(['{B04}'])
  })
})
