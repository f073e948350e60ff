import { describe, expect, it } from 'vitest'
import { FILE_HEAD } from '../../src/node/base/file-formats.ts'
import { expectationOf, looksLikePage, misfitError, misfitOf, type PromisedFile, pageByType } from '../../src/node/base/promised-file.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

describe('looksLikePage', () => {
  it.each([
    '<!DOCTYPE html><title>Log in</title>',
    '\ufeff\n  <!-- Earthdata --><!-- two -->\n<HTML lang="en">',
    '<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN">',
    '<head><meta http-equiv="refresh">',
    '<script>location = "/login"</script>',
  ])('recognises %j', (text) => {
    expect(looksLikePage(bytes(text), true)).toBe(true)
  })

  it('recognises UTF-16 with a byte order mark', () => {
    expect(looksLikePage(Buffer.from('\ufeff<!doctype html>', 'utf16le'), true)).toBe(true)
  })

  it.each([
    'II*\0',
    '{"type":"Feature"}',
    '<?xml version="1.0"?><gmd:MD_Metadata/>',
    '<!-- a comment --><kml xmlns="x">',
    '<header>',
    '<svg><html></html></svg>',
    '# Readme with <html> in it',
    '<htmlx>',
    '',
  ])('takes %j for something else', (text) => {
    expect(looksLikePage(bytes(text), true)).toBe(false)
  })

  it('requests more as long as the beginning may be that of a page', () => {
    for (const text of [' \n', '<', '<!doc', '<ht', '<!-- never clo', '<?xml'])
      expect([text, looksLikePage(bytes(text), false)]).toEqual([text, undefined])
    expect(looksLikePage(bytes('II'), false)).toBe(false)
  })

  it('decides after its limit, whatever comes', () => {
    expect(looksLikePage(bytes(' '.repeat(FILE_HEAD)), false)).toBe(false)
    expect(looksLikePage(bytes(`<!--${'-'.repeat(FILE_HEAD)}`), false)).toBe(false)
  })
})

const promise = (type: string, names: string[] = [], roles: string[] = []): PromisedFile => ({ type, names, roles })
const latin1 = (text: string) => Buffer.from(text, 'latin1')

describe('expectationOf', () => {
  const kind = (...promised: Parameters<typeof promise>) => expectationOf(promise(...promised)).kind
  const formats = (...promised: Parameters<typeof promise>) => expectationOf(promise(...promised)).formats.map(({ name }) => name)

  it('depends on the media type first, to which names add their formats', () => {
    expect(kind('Text/HTML; charset=utf-8', ['a.tif'], ['data'])).toBe('page')
    expect(kind('application/xhtml+xml')).toBe('page')
    expect([kind('image/tiff', ['a.html']), formats('image/tiff', ['a.html'])]).toEqual(['file', ['TIFF']])
    expect(formats('image/tiff', ['a.jp2'])).toEqual(['TIFF', 'JPEG 2000'])
    expect([kind('image/x-own', ['a.tif']), formats('image/x-own', ['a.tif'])]).toEqual(['file', []])
    expect([kind('text/csv', ['a.tif']), formats('text/csv')]).toEqual(['text', []])
  })

  it('depends on the name where there is no media type, or one that says nothing', () => {
    for (const type of ['', 'application/octet-stream', 'binary/octet-stream', '*/*']) {
      expect([kind(type, ['a.tif']), formats(type, ['a.tif'])]).toEqual(['file', ['TIFF']])
      expect(kind(type, ['index.HTM'], ['data'])).toBe('page')
      expect(kind(type, ['a.hdf', 'saved.html'])).toBe('page')
      expect(kind(type, ['a.bin'])).toBe('file')
      expect([kind(type, ['a.csv']), kind(type, ['a.xml'])]).toEqual(['text', 'text'])
    }
    expect(formats('', ['a.nc.gz'])).toEqual(['gzip'])
    expect(formats('', ['.zarray'])).toEqual(['JSON'])
  })

  it('depends on the role last, and knows nothing of numbers, programs and metadata', () => {
    expect(kind('', ['asset'], ['thumbnail'])).toBe('file')
    for (const [names, roles] of [
      [['zenodo.1234'], []],
      [['get.php'], []],
      [['.hidden'], []],
      [['about'], ['metadata']],
    ] as const)
      expect(kind('', [...names], [...roles])).toBe('unknown')
  })
})

describe('misfitOf', () => {
  const HDF5 = '\x89HDF\r\n\x1a\n'

  it.each<[string, string, string]>([
    ['a.tif', '', 'II*\0'],
    ['a.tif', '', 'MM\0*'],
    ['a.tif', '', 'II+\0\x08\0\0\0'],
    ['a.jp2', '', '\0\0\0\x0cjP  \r\n\x87\n'],
    ['a.j2k', '', '\xff\x4f\xff\x51'],
    ['a.nc', '', 'CDF\x05'],
    ['a.nc', 'application/x-netcdf', HDF5],
    ['a.h5', '', `${'u'.repeat(512)}${HDF5}`],
    ['a.h5', '', `${'\0'.repeat(2048)}${HDF5}`],
    ['a.hdf', '', '\x0e\x03\x13\x01'],
    ['a.grib2', '', 'GRIB\0'],
    ['a.grb', '', '\x01\r\r\n001 \r\r\nHTXA98 ECMF 121200\r\r\nGRIB'],
    ['a.zip', '', 'PK\x05\x06'],
    ['a.SAFE.zip', '', 'PK\x03\x04'],
    ['a.tar.gz', '', '\x1f\x8b'],
    ['a.png', '', '\x89PNG\r\n\x1a\n'],
    ['a.jpg', 'image/jpeg', '\xff\xd8\xff\xe1'],
    ['a.pdf', '', '%PDF-1.7'],
    ['a.parquet', '', 'PAR1'],
    ['a.copc.laz', 'application/vnd.laszip+copc', 'LASF'],
    ['a.fgb', '', 'fgb\x03fgb\0'],
    ['a.pmtiles', '', 'PMTiles\x03'],
    ['a.gpkg', '', 'SQLite format 3\0'],
    ['zarr.json', '', '\n{"zarr_format":3}'],
    ['.zattrs', '', '{"error":"a unit"}'],
    ['a.geojson', '', '\ufeff {"type":"Feature","message":"x","status":1}'],
    ['a.ndjson', '', '{"a":1}\n{"a":2}'],
    ['a.json', '', '{"error":null}'],
    ['a.xml', '', '<?xml version="1.0"?><gmd:MD_Metadata/>'],
    ['a.vrt', '', '<VRTDataset/>'],
    ['a.csv', '', '{"error": 1}'],
    ['a.bin', '', '{"name":"a table in JSON","description":"x"}'],
    ['a.bin', '', ''],
    ['a', '', '{"error":"x"}'],
    ['a.jp2', 'image/tiff', '\xff\x4f\xff\x51'],
  ])('takes %s (%j) that begins with %j for what was promised', (name, type, start) => {
    const head = start.startsWith('\ufeff') ? Buffer.from(start) : latin1(start)
    expect(misfitOf(promise(type, [name]), head, true)).toBeUndefined()
    if (start !== '') expect(misfitOf(promise(type, [name]), Buffer.concat([head, Buffer.alloc(FILE_HEAD, ' ')]), false)).toBeUndefined()
  })

  it.each<[string, string, string, string, string]>([
    ['a.tif', '', '{"status":"ok","download_url":"https://x.example/y"}', 'format', 'JSON, but "a.tif" was expected'],
    ['a.tif', 'image/tiff; application=geotiff', '\0\0\0\x0cjP  \r\n\x87\n', 'format', 'JPEG 2000, but image/tiff was expected'],
    ['a.zip', '', '<error><message>4 flows</message></error>', 'error', 'an error in XML, but "a.zip" was expected'],
    ['a.nc', '', '{"error":{"message":"quota"}}', 'error', 'an error in JSON, but "a.nc" was expected'],
    ['a.nc', '', 'II*\0', 'format', 'TIFF, but "a.nc" was expected'],
    ['a.png', '', 'please log in', 'format', 'text, but "a.png" was expected'],
    ['a.tif', '', '', 'empty', 'empty, but "a.tif" was expected'],
    ['a.json', '', '', 'empty', 'empty, but "a.json" was expected'],
    ['a.json', '', '<Error><Code>x</Code></Error>', 'error', 'an error in XML, but "a.json" was expected'],
    ['a.xml', '', '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', 'error', 'an error in XML, but "a.xml" was expected'],
    ['a.geojson', '', '{"message":"forbidden"}', 'error', 'an error in JSON, but "a.geojson" was expected'],
    ['a.bin', '', '{"detail":"Not allowed"}', 'error', 'an error in JSON, but "a.bin" was expected'],
    ['a.bin', '', '<soap:Envelope><soap:Body><soap:Fault/>', 'error', 'an error in XML, but "a.bin" was expected'],
    ['a.bin', '', '<!DOCTYPE html>', 'page', 'a web page, but "a.bin" was expected'],
    ['a.csv', '', '<html>', 'page', 'a web page, but "a.csv" was expected'],
  ])('refuses %s (%j) that begins with %j as %s', (name, type, start, kind, words) => {
    expect(misfitOf(promise(type, [name]), latin1(start), true)).toMatchObject({ kind, words })
  })

  it('waits for the bytes that decide, one by one', () => {
    const whole = latin1('\x89HDF\r\n\x1a\n\0')
    for (let length = 1; length < 8; length++) expect(misfitOf(promise('', ['a.h5']), whole.subarray(0, length), false)).toBe('more')
    expect(misfitOf(promise('', ['a.h5']), whole.subarray(0, 8), false)).toBeUndefined()
    expect(misfitOf(promise('', ['a.tif']), latin1('II'), false)).toBe('more')
    expect(misfitOf(promise('', ['a.tif']), latin1('II'), true)).toMatchObject({ kind: 'format' })
  })

  it('repeats nothing of a body that is no error response without its request, and never a secret of it', () => {
    const body = Buffer.from(JSON.stringify({ error: 'not accepted: Bearer s3cr3t-token-value' }))
    const request = { method: 'GET', url: 'https://a.example/a.tif', headers: { authorization: 'Bearer s3cr3t-token-value' } }
    expect(misfitOf(promise('', ['a.tif']), body, true)).not.toHaveProperty('says')
    expect(misfitOf(promise('', ['a.tif']), body, true, null, request)).toMatchObject({ says: 'not accepted: Bearer [secret]' })
  })

  it('shows what the server says in an error, on one line and at most 300 characters', () => {
    const body = { status: 'failed', message: `no\u001b[2J\n${'x'.repeat(400)}` }
    const misfit = misfitOf(promise('', ['a.tif']), Buffer.from(JSON.stringify(body)), true, null, {
      method: 'GET',
      url: 'https://a.example/a.tif',
      headers: {},
    })
    if (!misfit || misfit === 'more') throw new Error('it fits')
    const { message, code } = misfitError(misfit, promise('', ['a.tif']), {
      asked: 'https://a.example/a.tif',
      answered: 'https://a.example/a.tif?key=1',
      contentType: null,
    })
    expect(code).toBe('FILE_INTEGRITY')
    expect(message).toMatch(
      /^https:\/\/a\.example\/a\.tif was not saved: it is an error in JSON, but "a\.tif" was expected\. The server says: no\\u\{1b\}\[2J x+…$/,
    )
    expect(misfit.says).toHaveLength(300)
  })

  it('takes a problem by its media type, and a page by its own', () => {
    expect(misfitOf(promise('', ['a.bin']), latin1('{"x":1}'), true, 'application/problem+json')).toMatchObject({ kind: 'error' })
    expect(misfitOf(promise('', ['a.tif']), latin1('log in'), true, 'text/html')).toMatchObject({ kind: 'page' })
    expect(pageByType(promise('', ['a.tif']), 'text/html')).toMatchObject({ kind: 'page' })
    expect(pageByType(promise('', ['a']), 'text/html')).toBeUndefined()
  })
})
