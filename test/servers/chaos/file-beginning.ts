/** First bytes of the files that test servers make up: as their names promise. */

const BEGINNINGS: Readonly<Record<string, string>> = {
  png: '\x89PNG\r\n\x1a\n',
  jpg: '\xff\xd8\xff',
  jp2: '\0\0\0\x0cjP  \r\n\x87\n',
  gz: '\x1f\x8b',
  zip: 'PK\x03\x04',
  h5: '\x89HDF\r\n\x1a\n',
  nc: 'CDF\x01',
  json: '{"',
  xml: '<x',
}

/** Returns the bytes for the last extension in a name; those of a TIFF for any other name. */
export function beginningOf(name: string): Buffer {
  const extension = [...name.matchAll(/\.([a-z0-9]+)/gi)].at(-1)?.[1]?.toLowerCase() ?? ''
  return Buffer.from(BEGINNINGS[extension] ?? 'II*\0', 'latin1')
}
