/** The figures of docs/speed.md: each row is the result of one benchmark. */
import { readFileSync } from 'node:fs'

/** What a figure may be off on another machine, as a share of it. */
export const TOLERANCE = 0.3

/** The first two cells of a row, as far as they matter, and the name of the result. "the same" and "either" stand for the row above. */
const RESULTS = [
  ['lint 20,000 Items', '', 'lint of files, documents per CPU second'],
  ['find 50 planted mistakes', '', '50 mistakes in 500 Items, by the clock'],
  ['lint an Item text', '', 'items with authentication: lintText over JSON.parse'],
  ['lint that Item once', '', 'items with authentication: JSON.parse and lint over JSON.parse'],
  ['lint 1 GB of NDJSON', '', 'peak memory (RSS) for 1 GB of NDJSON'],
  ['crawl 20,101', '', 'crawl, documents per CPU second'],
  ['crawl and lint', '', 'crawl and lint, documents per CPU second'],
  ['`authorize()`', '', 'authorize(), bearer'],
  ['start with', '', 'Start: import stac-auth/node'],
  ['sign a request', '', 'S3 header signature: aws4'],
  ['presign', '', 'S3 presigning: getSignedUrl'],
  ['10,000 signed', '', 'signing, limit unknown'],
  ['a request of the time-tracking', '', 'REST list, 32 at once: stripe'],
  ['a translation', '', 'Translation: requests, concurrency 32'],
  ['download 10,000', '`aria2c', 'download, small files'],
  ['download 10,000', 'a loop', 'download, small files per CPU second'],
  ['download 10,000', 'memory', 'download, memory for small files'],
  ['download one file', '`curl`, by', 'download, one large file with checksum'],
  ['download one file', '`curl`, then', 'download, one large file with the same care'],
  ['download one file', 'memory', 'download, memory for one large file'],
  ['read one file', 'nginx', 'gateway, one large file'],
  ['a range of 64 KiB', 'the server', 'gateway, latency added to a range of 64 KiB'],
  ['a range of 64 KiB', 'memory', 'gateway, memory'],
]

/** Rows of `{ what, name, figure }`; `name` is missing where no benchmark gives the row. */
export function documented(page = readFileSync(new URL('../../docs/speed.md', import.meta.url), 'utf8')) {
  let above = ''
  // The table of programs is checked where it is generated.
  const [table] = page.split('| program |')
  const rows = [...table.matchAll(/^\| (?!what |---)(.+?) \| (.+?) \| ([\d.]+) ?[^|]*\|/gm)]
  return rows.map(([, cell, peer, figure]) => {
    if (cell !== 'the same' && cell !== 'either') above = cell
    const [, , name] = RESULTS.find(([what, other]) => above.startsWith(what) && peer.startsWith(other)) ?? []
    return { what: `${above}, ${peer}`, name, figure: Number(figure) }
  })
}
