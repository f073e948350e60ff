/**
 * Claim: a crawl takes a third of the CPU time of the shortest program that does the same with the global `fetch`, and it brings
 * limits, retries, address checks and a level-by-level order with it.
 *
 * 20,000 Items below 100 Catalogs, served on loopback by another process. Both sides follow the same links, eight requests at a
 * time, and parse every document; the CPU time of this process alone is compared, by turns. Our side is measured once more with
 * linting, which the other one never does.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { createAuth } from 'stac-auth'
import { crawl } from 'stac-auth/crawl'
import { lintText } from 'stac-auth/lint'

const CATALOGS = 100
const ITEMS = 200
const ROUNDS = 5
const AT_A_TIME = 8
const EXTENSION = 'https://stac-extensions.github.io/authentication/v1.1.0/schema.json'

/** Arguments of `run` for the smallest measurement, which only shows that it works. */
export const smallest = [{ catalogs: 2, items: 5, rounds: 1 }]

export async function run({ catalogs = CATALOGS, items = ITEMS, rounds = ROUNDS } = {}) {
  const server = fork(fileURLToPath(import.meta.url), ['--serve', String(catalogs), String(items)])
  const [port] = await once(server, 'message')
  const start = `http://127.0.0.1:${port}/`
  const documents = 1 + catalogs + catalogs * items
  try {
    const measured = []
    for (let round = -1; round < rounds; round++) {
      const ours = await cost(() => walk(start), documents)
      const naive = await cost(() => naiveWalk(start), documents)
      const linted = await cost(() => walk(start, true), documents)
      if (round >= 0) measured.push({ ours, naive, linted })
    }
    return [
      resultOf('crawl, documents per CPU second', documents, measured, ({ ours }) => ours, 3),
      resultOf('crawl and lint, documents per CPU second', documents, measured, ({ linted }) => linted, 2),
    ]
  } finally {
    server.kill()
  }
}

/** The round in the middle: the two sides of a round have met the same neighbours. */
function resultOf(name, documents, measured, of, target) {
  const ratioOf = (lap) => lap.naive.cpu / of(lap).cpu
  const round = measured.toSorted((one, other) => ratioOf(one) - ratioOf(other))[measured.length >> 1]
  const details = {
    documents,
    'documents per CPU second': documents / of(round).cpu,
    'of the naive one': documents / round.naive.cpu,
    'per second': documents / of(round).wall,
  }
  return { name, ratio: ratioOf(round), target, unit: 'times global fetch', better: 'higher', details }
}

async function walk(start, isLinted = false) {
  const auth = createAuth({ credentials: [], typed: [start] })
  let documents = 0
  for await (const visit of crawl({ start: [start], send: auth.send, perHost: AT_A_TIME })) {
    if (visit.kind === 'stop' || visit.error) throw new Error('the crawl is not complete')
    if (isLinted && lintText(visit.bytes, { document: visit.job.url, url: visit.outcome.url, parents: visit.parents }).length > 0)
      throw new Error('a clean document has findings')
    documents += visit.outcome.documents
  }
  return documents
}

/** What one would write first. */
async function naiveWalk(start) {
  const seen = new Set([start])
  const queue = [start]
  let documents = 0
  let active = 0
  await new Promise((resolve, reject) => {
    const next = () => {
      if (queue.length === 0 && active === 0) resolve()
      while (active < AT_A_TIME && queue.length > 0) {
        active++
        visit(queue.shift()).then(next, reject)
      }
    }
    const visit = async (url) => {
      const response = await fetch(url)
      const document = JSON.parse(await response.text())
      documents++
      for (const { rel, href } of document.links) {
        if (rel !== 'child' && rel !== 'item') continue
        const target = new URL(href, response.url).href
        if (seen.has(target)) continue
        seen.add(target)
        queue.push(target)
      }
      active--
    }
    next()
  })
  return documents
}

/** Seconds of CPU and of the clock. */
async function cost(work, expected) {
  const before = process.cpuUsage()
  const started = performance.now()
  const documents = await work()
  const { user, system } = process.cpuUsage(before)
  if (documents !== expected) throw new Error(`${documents} documents instead of ${expected}`)
  return { cpu: (user + system) / 1e6, wall: (performance.now() - started) / 1e3 }
}

function serve(catalogs, items) {
  const links = (rel, count, path) => Array.from({ length: count }, (_, index) => ({ rel, href: path(index) }))
  const catalog = (id, more) => JSON.stringify({ type: 'Catalog', stac_version: '1.1.0', id, description: id, links: more })
  const answer = (path) => {
    if (path === '/')
      return catalog(
        'root',
        links('child', catalogs, (index) => `/c${index}/`),
      )
    const [, parent, id] = path.split('/')
    if (id === '')
      return catalog(
        parent,
        links('item', items, (index) => `${index}.json`),
      )
    return JSON.stringify({
      type: 'Feature',
      stac_version: '1.1.0',
      stac_extensions: [EXTENSION],
      id: `${parent}-${id}`,
      geometry: null,
      properties: { datetime: '2026-01-01T00:00:00Z', 'auth:schemes': { key: { type: 'apiKey', name: 'x-api-key', in: 'header' } } },
      links: [{ rel: 'parent', href: './' }],
      assets: Object.fromEntries(
        ['B02', 'B03', 'B04', 'B08'].map((band) => [
          band,
          { href: `https://data.example/${parent}/${id}/${band}.tif`, type: 'image/tiff', title: `Band ${band}`, 'auth:refs': ['key'] },
        ]),
      ),
    })
  }
  const server = createServer((request, response) => {
    const body = answer(request.url)
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body)
  })
  server.listen(0, '127.0.0.1', () => process.send(server.address().port))
}

if (process.argv[2] === '--serve') serve(Number(process.argv[3]), Number(process.argv[4]))
