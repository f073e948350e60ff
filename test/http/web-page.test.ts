import { describe, expect, it } from 'vitest'
import { looksLikePage, PAGE_HEAD, promisedKind } from '../../src/node/transport/page-refusal.ts'

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
    expect(looksLikePage(bytes(' '.repeat(PAGE_HEAD)), false)).toBe(false)
    expect(looksLikePage(bytes(`<!--${'-'.repeat(PAGE_HEAD)}`), false)).toBe(false)
  })
})

describe('promisedKind', () => {
  const kind = (type: string, names: string[] = [], roles: string[] = []) => promisedKind({ type, names, roles })

  it('promisedKind depends on the media type first', () => {
    expect(kind('Text/HTML; charset=utf-8', ['a.tif'], ['data'])).toBe('page')
    expect(kind('application/xhtml+xml')).toBe('page')
    expect(kind('image/tiff', ['a.html'])).toBe('other')
  })

  it('promisedKind depends on the name where there is no media type', () => {
    expect(kind('', ['a.tif'])).toBe('other')
    expect(kind('', ['index.HTM'], ['data'])).toBe('page')
    expect(kind('', ['a.hdf', 'saved.html'])).toBe('page')
  })

  it('promisedKind depends on the role last, and knows nothing of numbers, programs and metadata', () => {
    expect(kind('', ['asset'], ['thumbnail'])).toBe('other')
    for (const [names, roles] of [
      [['zenodo.1234'], []],
      [['get.php'], []],
      [['.hidden'], []],
      [['about'], ['metadata']],
    ] as const)
      expect(kind('', [...names], [...roles])).toBe('unknown')
  })
})
