/** The file formats of catalogs: their media types, extensions, and the bytes with which their files begin. */

import { mediaType } from '../../http/headers.ts'

/** A format that is recognized by its first bytes. */
export interface FileFormat {
  /** Its name in messages. */
  readonly name: string
  /** Media types without parameters. */
  readonly types: RegExp
  /** Extensions without dot. */
  readonly extensions: readonly string[]
  /** Set for text. */
  readonly isText?: true
  /** All bytes with which a file may begin. */
  readonly begins: readonly Beginning[]
}

/** Bytes as Latin-1 at an offset, default 0; or a pattern for a text, or for bytes that may follow a heading. */
type Beginning = string | readonly [offset: number, bytes: string] | RegExp

/** Bytes within which each format shows that it is one. */
export const FILE_HEAD = 4096

const HDF5 = '\x89HDF\r\n\x1a\n'
/** The superblock of HDF5 is at 0, 512 and each further power of two (HDF5 File Format Specification, II.A). */
const HDF: readonly Beginning[] = [HDF5, [512, HDF5], [1024, HDF5], [2048, HDF5], '\x0e\x03\x13\x01']
const ZIP = ['PK\x03\x04', 'PK\x05\x06', 'PK\x07\x08']
const PLAIN_TIFF = ['II*\0', 'MM\0*', 'II+\0', 'MM\0+']
const GZIP = '\x1f\x8b'
/** Messages of meteorological centres may follow a heading (WMO Manual on the GTS). */
const within = (word: string) => new RegExp(`^[\\s\\S]{0,200}${word}`)

const FILE_FORMATS: readonly FileFormat[] = [
  {
    name: 'TIFF',
    types: /^image\/(?:(?:x[.-]|vnd\.stac\.)?(?:geo)?tiff|tif)$|^application\/(?:x-)?geotiff$/,
    extensions: ['tif', 'tiff', 'gtif', 'gtiff', 'geotiff', 'btf', 'tf8'],
    begins: PLAIN_TIFF,
  },
  {
    name: 'JPEG 2000',
    types: /^image\/(?:jp2|jpx|jpm|j2c|j2k|jph|jphc|jpeg2000|x-jp2|x-jpeg2000)$/,
    extensions: ['jp2', 'j2k', 'j2c', 'jpc', 'jpx', 'jpf', 'jph', 'jhc'],
    begins: ['\0\0\0\x0cjP  \r\n\x87\n', '\xff\x4f\xff\x51'],
  },
  {
    name: 'NetCDF',
    types: /^application\/(?:x-|vnd\.)?netcdf(?:4|-4)?$/,
    extensions: ['nc', 'nc3', 'nc4', 'netcdf', 'cdf'],
    begins: ['CDF\x01', 'CDF\x02', 'CDF\x05', ...HDF, '\xcd\xf2', '\xcd\xf3'],
  },
  {
    name: 'HDF',
    types: /^application\/(?:x-|vnd\.)?hdf(?:[45]|-eos[25]?)?$/,
    extensions: ['h5', 'hdf5', 'he5', 'hdf', 'hdf4', 'h4', 'hdfeos'],
    begins: HDF,
  },
  {
    name: 'GRIB',
    types: /^application\/(?:x-|wmo-)?grib(?:2|;?edition=2)?$/,
    extensions: ['grib', 'grib1', 'grib2', 'grb', 'grb1', 'grb2', 'gb2'],
    begins: [within('GRIB')],
  },
  { name: 'BUFR', types: /^application\/(?:x-|wmo-)?bufr$/, extensions: ['bufr', 'bfr'], begins: [within('BUFR')] },
  {
    name: 'ZIP',
    types: /^application\/(?:x-)?zip(?:-compressed)?$|^application\/vnd\.google-earth\.kmz$|^application\/.*\+zip$/,
    extensions: ['zip', 'kmz'],
    begins: ZIP,
  },
  {
    name: 'gzip',
    types: /^application\/(?:x-)?(?:gzip|tgz|(?:x-)?tar\+gzip|gtar-compressed)$/,
    extensions: ['gz', 'gzip', 'tgz', 'taz'],
    begins: [GZIP],
  },
  { name: 'bzip2', types: /^application\/(?:x-)?bzip2?$/, extensions: ['bz2', 'tbz2'], begins: ['BZh'] },
  { name: 'xz', types: /^application\/(?:x-)?xz$/, extensions: ['xz', 'txz'], begins: ['\xfd7zXZ\0'] },
  {
    name: 'Zstandard',
    types: /^application\/(?:x-)?zstd$/,
    extensions: ['zst', 'zstd', 'tzst'],
    begins: ['\x28\xb5\x2f\xfd', /^[\x50-\x5f]\x2a\x4d\x18/],
  },
  { name: '7z', types: /^application\/(?:x-)?7z-compressed$/, extensions: ['7z'], begins: ['7z\xbc\xaf\x27\x1c'] },
  { name: 'PNG', types: /^image\/(?:x-|vnd\.mozilla\.a)?png$/, extensions: ['png', 'apng'], begins: ['\x89PNG\r\n\x1a\n'] },
  { name: 'JPEG', types: /^image\/p?jpe?g$/, extensions: ['jpg', 'jpeg', 'jpe', 'jfif'], begins: ['\xff\xd8\xff'] },
  { name: 'GIF', types: /^image\/gif$/, extensions: ['gif'], begins: ['GIF87a', 'GIF89a'] },
  { name: 'WebP', types: /^image\/webp$/, extensions: ['webp'], begins: [/^RIFF[\s\S]{4}WEBP/] },
  { name: 'PDF', types: /^application\/(?:x-)?pdf$/, extensions: ['pdf'], begins: [/^[\s\S]{0,1024}%PDF-/] },
  {
    name: 'Parquet',
    types: /^application\/(?:x-|vnd\.apache\.)?parquet$/,
    extensions: ['parquet', 'geoparquet', 'pq'],
    begins: ['PAR1', 'PARE'],
  },
  { name: 'Arrow', types: /^application\/vnd\.apache\.arrow\.file$/, extensions: ['feather'], begins: ['ARROW1', 'FEA1'] },
  { name: 'LAS', types: /^application\/vnd\.(?:las|laszip|laszip\+copc)$/, extensions: ['las', 'laz'], begins: ['LASF'] },
  { name: 'FlatGeobuf', types: /^application\/(?:vnd\.)?flatgeobuf$/, extensions: ['fgb'], begins: ['fgb'] },
  { name: 'PMTiles', types: /^application\/vnd\.pmtiles$/, extensions: ['pmtiles'], begins: ['PMTiles', 'PM\x01', 'PM\x02'] },
  {
    name: 'SQLite',
    types: /^application\/(?:geopackage\+sqlite3|vnd\.sqlite3|x-sqlite3)$/,
    extensions: ['gpkg', 'sqlite', 'sqlite3', 'mbtiles'],
    begins: ['SQLite format 3\0'],
  },
  { name: 'NITF', types: /^(?:image|application)\/(?:vnd\.)?nitf$/, extensions: ['ntf', 'nitf', 'nsf'], begins: ['NITF', 'NSIF'] },
  {
    name: 'JSON',
    isText: true,
    types: /^(?:application|text|model|image)\/(?:json|geo\+json|geojson|.+\+json|json-seq|geo\+json-seq|(?:x-)?ndjson|jsonlines)$/,
    extensions: [
      'json',
      'geojson',
      'topojson',
      'ndjson',
      'jsonl',
      'geojsonl',
      'geojsons',
      'jsonld',
      'ipynb',
      'zarray',
      'zattrs',
      'zgroup',
      'zmetadata',
    ],
    begins: [/^[\s\x1e]*[[{"tfn\d-]/],
  },
  {
    name: 'XML',
    isText: true,
    types: /^(?:application|text|image|model)\/(?:xml|.+\+xml|vnd\.google-earth\.kml)$/,
    extensions: ['xml', 'kml', 'gml', 'vrt', 'xsd', 'xsl', 'sld', 'qml', 'svg', 'rdf', 'wml'],
    begins: [/^\s*</],
  },
]

/** Returns the format of a media type; undefined for another type. */
export function formatOfType(type: string): FileFormat | undefined {
  return FILE_FORMATS.find(({ types }) => types.test(mediaType(type)))
}

/** Returns the format of an extension without dot, in lower case; undefined for another one. */
export function formatOfExtension(extension: string): FileFormat | undefined {
  return FILE_FORMATS.find(({ extensions }) => extensions.includes(extension))
}

/** Returns whether a file begins as the format does; undefined when that needs more bytes. `isAll`: there are no more. */
export function beginsAs({ begins }: FileFormat, head: Uint8Array, isAll: boolean): boolean | undefined {
  const text = latin1(head)
  const plain = unicodeFree(text)
  const isKnown = isAll || head.length >= FILE_HEAD
  let isOpen = false
  for (const beginning of begins) {
    if (beginning instanceof RegExp) {
      if (beginning.test(plain)) return true
      // Text and headings are decided by what follows them.
      isOpen ||= !isKnown && (plain.trim() === '' || beginning.source.startsWith('^[\\s\\S]{0,') || plain.length < 12)
      continue
    }
    const [offset, bytes] = typeof beginning === 'string' ? [0, beginning] : beginning
    if (text.startsWith(bytes, offset)) return true
    isOpen ||= !isKnown && (text.length <= offset || bytes.startsWith(text.slice(offset)))
  }
  return isOpen ? undefined : false
}

/** Returns the name of the format with which a file begins; undefined for one that is not recognized. */
export function formatNameOf(head: Uint8Array): string | undefined {
  const text = headText(head).trimStart()
  if (text.startsWith('<')) return 'XML'
  if (/^[[{]/.test(text)) return 'JSON'
  return FILE_FORMATS.find(({ isText, begins }) => !isText && begins.some((one) => isAt(one, head)))?.name
}

/** Headings before a format are left out: a text may contain its name. */
function isAt(beginning: Beginning, head: Uint8Array): boolean {
  const text = latin1(head)
  if (beginning instanceof RegExp) return (beginning.exec(text)?.[0].length ?? FILE_HEAD) <= 12
  return typeof beginning === 'string' ? text.startsWith(beginning) : text.startsWith(beginning[1], beginning[0])
}

/** Returns one character for each byte. */
function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, FILE_HEAD)).toString('latin1')
}

/** Returns a text without its byte order mark; of UTF-16 what is ASCII. */
function unicodeFree(text: string): string {
  return /^(?:\xff\xfe|\xfe\xff)/.test(text) ? text.slice(2).replaceAll('\0', '') : text.replace(/^\xef\xbb\xbf/, '')
}

/** Returns the first bytes as text, for HTML, XML and JSON: one character for each byte, of UTF-16 only what is ASCII. */
export function headText(head: Uint8Array): string {
  return unicodeFree(latin1(head))
}
