/** Fifty origins with a path, and which `sendTo` allows each of them: written down by hand, as a person would decide it. */

/** Five ways to write `sendTo`. */
export const ALLOWED = {
  origin: ['https://data.victim.example/'],
  folder: ['https://data.victim.example/open/'],
  wildcard: ['https://*.tiles.victim.example/'],
  port: ['https://data.victim.example:8443/'],
  several: ['https://data.victim.example/', 'https://tiles.victim.example/a/', 'https://evil.example.victim.example/'],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type Allowed = keyof typeof ALLOWED

/** A URL and the names of what allows it. */
export const URLS: readonly (readonly [url: string, ...allowedBy: Allowed[]])[] = [
  ['https://data.victim.example/f.tif', 'origin', 'several'],
  ['https://data.victim.example/open/f.tif', 'origin', 'folder', 'several'],
  ['https://data.victim.example/open', 'origin', 'folder', 'several'],
  ['https://DATA.victim.example:443/open/g.tif', 'origin', 'folder', 'several'],
  ['https://data.victim.example/opened/f.tif', 'origin', 'several'],
  ['https://data.victim.example/Open/f.tif', 'origin', 'several'],
  ['https://data.victim.example/open/../f.tif', 'origin', 'several'],
  ['https://data.victim.example/open/%2e%2e/f.tif', 'origin', 'several'],
  ['https://data.victim.example/open/..%2ff.tif', 'origin', 'several'],
  ['https://data.victim.example/open/..%252ff.tif', 'origin', 'several'],
  ['https://data.victim.example/open/..;/f.tif', 'origin', 'several'],
  ['https://data.victim.example/?https://evil.example/', 'origin', 'several'],
  ['https://data.victim.example:8443/f.tif', 'port'],
  ['https://data.victim.example:8443/open/f.tif', 'port'],
  ['https://data.victim.example:8444/f.tif'],
  ['https://a.tiles.victim.example/1.png', 'wildcard'],
  ['https://a.b.tiles.victim.example/1.png', 'wildcard'],
  ['https://xn--bcher-kva.tiles.victim.example/1.png', 'wildcard'],
  ['https://data.victim.example.tiles.victim.example/1.png', 'wildcard'],
  ['https://tiles.victim.example/1.png'],
  ['https://tiles.victim.example/a/1.png', 'several'],
  ['https://tiles.victim.example/ab/1.png'],
  ['https://a.tiles.victim.example:444/1.png'],
  ['https://eviltiles.victim.example/1.png'],
  ['https://a.tiles.victim.example.evil.example/1.png'],
  ['https://evil.example.victim.example/f', 'several'],
  ['https://victim.example/f'],
  ['https://www.data.victim.example/f'],
  ['https://data.victim.example.evil.example/f'],
  ['https://data-victim.example/f'],
  ['https://evildata.victim.example/f'],
  ['https://data.victim.examples/f'],
  ['https://data.victim.exampl/f'],
  ['https://data.vict1m.example/f'],
  ['https://d\u0430ta.victim.example/f'],
  ['https://evil.example/data.victim.example/f'],
  ['https://evil.example/https://data.victim.example/f'],
  ['https://evil.example/?data.victim.example'],
  ['https://evil.example/#data.victim.example/'],
  ['https://evil.example/..%2fdata.victim.example/'],
  ['https://login.victim.example/f'],
  ['https://login.victim.example/token/f'],
  ['https://93.184.215.14/f'],
  ['https://[2606:2800:220:1:248:1893:25c8:1946]/f'],
  // These are refused wherever they stand.
  ['https://data.victim.example./f'],
  ['https://data.victim.example@evil.example/f'],
  ['http://data.victim.example/f'],
  ['https://127.0.0.1/f'],
  ['https://metadata.internal/f'],
  ['https://data.victim.example\\@evil.example/f'],
]

/** What a parser makes of a URL that is refused as it is written: at a place that is allowed, where clients parse URLs before they ask. */
export const READ_BY_PARSERS: Readonly<Partial<Record<Allowed, readonly string[]>>> = {
  origin: ['https://data.victim.example/@evil.example/f'],
  several: ['https://data.victim.example/@evil.example/f'],
}
