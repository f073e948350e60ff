import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Placeholders, substitute } from '../../../src/cli/run/placeholders.ts'
import type { AuthError } from '../../../src/errors.ts'

const target = (document: string, key: string) => ({ document, key, url: `http://127.0.0.1:1/c/https/data.example/${document}/${key}` })
const url = (path: string) => `http://127.0.0.1:1/c/https/data.example/${path}`
const ONE: Placeholders = {
  targets: ['B04', 'B08', 'Band 1', 'B04/s3', 'url:x'].map((key) => target('i', key)),
  refused: [],
  catalog: 'http://127.0.0.1:1/c/https/data.example/i.json',
}
const TWO: Placeholders = { targets: [target('i', 'B04'), target('j', 'B04'), target('j', 'only')], refused: [], catalog: undefined }

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

  it('are file names of GDAL behind other programs, and in quotes of its own', () => {
    const before = ['timeout 60', 'env A=1', 'nice -n 5', 'time', 'xvfb-run -a', 'conda run -n gis', 'python3'].map((words) =>
      words.split(' '),
    )
    for (const words of before)
      expect(substitute([...words, 'gdalinfo', '{B04}', 'NETCDF:"{B08}":var'], ONE).slice(-2)).toEqual([
        `/vsicurl/${url('i/B04')}`,
        `NETCDF:"/vsicurl/${url('i/B08')}":var`,
      ])
    expect(args('python3', '/opt/gdal_merge.py', '{B04}').at(-1)).toBe(`/vsicurl/${url('i/B04')}`)
    expect(args('curl', '-o', 'gdal.tif', '{B04}').at(-1)).toBe(url('i/B04'))
  })

  it('are file names that QGIS leaves as they are, for its programs', () => {
    const named = {
      targets: [{ document: 'i', key: 'odd', url: 'http://127.0.0.1:1/c/https/h.example/a//b/../.c/d+e%20f?g&h/' }],
      refused: [],
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

  it('stand in scripts and their arguments, behind other programs, and in text of other languages', () => {
    const used = [
      ['sh', '-c', 'gdalinfo "$1"', 'sh', '{url:B04}'],
      ['sh', '-c', 'gdalinfo {url:B04} | head'],
      ['python3', '-c', 'open("{B04}")'],
      ['python3', 'x.py', '-c', '{B04}'],
      ['python3', '-c', 'import sys', '{B04}'],
      ['awk', '-v', 'u={B04}', '{print u}'],
      ['env', 'URL={B04}', 'make'],
      ['duckdb', '-c', "SELECT * FROM '{B04}'"],
      ['find', '.', '-exec', 'curl', '{B04}', ';'],
    ]
    for (const words of used) expect(substitute(words, ONE).join(' '), words.join(' ')).toContain(url('i/B04'))
  })

  it('are refused with the reason of a target whose URL cannot be used, and no other asset is named', () => {
    const refused = [{ document: 'i', key: 'b', code: 'URL_INVALID' as const, message: 'the URL has a space', hint: 'encode it' }]
    for (const name of ['{b}', '{i/b}', '{vsi:b}'])
      expect(refusal(name, { targets: [target('i', 'q')], refused, catalog: undefined })).toEqual({
        code: 'URL_INVALID',
        message: `${name} cannot be used: the URL has a space`,
        hint: 'encode it',
      })
  })

  it('lead to no target of another document that has taken the name as its key', () => {
    const taken = (key: string): Placeholders => ({ targets: [target('i', 'B04'), target('evil', key)], refused: [], catalog: undefined })
    for (const key of ['i/B04', 'url:B04', 'vsi:B04', 'vsi:i/B04'])
      expect(refusal(`{${key}}`, taken(key))).toMatchObject({ code: 'TARGET_NOT_FOUND', message: expect.stringContaining('ambiguous') })
    const twins = { targets: [target('i', 'B04'), target('i', 'B04')], refused: [], catalog: undefined }
    expect(refusal('{i/B04}', twins)).toMatchObject({ hint: expect.stringContaining('one at a time') })
  })

  it('are not looked for in the name of the program', () => {
    expect(substitute(['{B04}'], ONE)).toEqual(['{B04}'])
  })
})
