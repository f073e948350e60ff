/**
 * Claim: any number of signed URLs can be requested at once. A signing API that accepts 500 calls in any second receives at most
 * 5 % more, whether `signingRate` is set or not; all calls succeed; each URL is signed once.
 *
 * 10,000 requests for 5,000 URLs against an API in the same process, which refuses with 429 and `Retry-After: 1`. It records the time
 * of each call, accepted or not; the second with the most calls counts. The same again where one signature is valid for the container.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { assetOf, createAuth } from 'stac-auth'

const LIMIT = 500
const RESOLUTIONS = 10_000
const DISTINCT = 5_000

/** Arguments of `run` for the smallest measurement, which only shows that it works. */
export const smallest = [{ limit: 500, resolutions: 100, distinct: 50 }]

export async function run({ limit = LIMIT, resolutions = RESOLUTIONS, distinct = DISTINCT } = {}) {
  const learned = await signAll({ limit, resolutions, distinct })
  const told = await signAll({ limit, resolutions, distinct, entry: { signingRate: limit } })
  const shared = await signAll({ limit, resolutions, distinct, query: 'sv=2022-11-02&sr=c&sp=r&sig=abc' })
  const busiest = (name, { came, ...figures }) => ({
    name,
    ratio: fullest(came) / limit,
    target: 1.05,
    unit: 'of the limit in the fullest second',
    better: 'lower',
    details: { calls: came.length, ...figures },
  })
  const each = (name, { accepted }, expected) => ({
    name,
    ratio: accepted / expected,
    target: 1,
    unit: 'accepted calls per signature needed',
    better: 'lower',
  })
  return [
    busiest('signing, limit unknown', learned),
    each('signing, limit unknown: one call for each URL', learned, distinct),
    busiest('signing, limit set by signingRate', told),
    each('signing, signature of a container: one call for all', shared, 1),
  ]
}

async function signAll({ limit, resolutions, distinct, entry = {}, query = 'sig=abc' }) {
  const api = await startApi(limit, query)
  try {
    const auth = createAuth({
      credentials: {
        type: 'signedUrl',
        authorizationApi: `${api.origin}/sign`,
        method: 'GET',
        signedUrlHosts: 'https://archive.blob.core.windows.net/',
        sendTo: 'https://archive.blob.core.windows.net/scenes/',
        ...entry,
      },
    })
    const flow = {
      method: 'GET',
      authorizationApi: `${api.origin}/sign`,
      responseField: 'href',
      parameters: { href: { in: 'query', required: true } },
    }
    const properties = { 'auth:schemes': { sas: { type: 'signedUrl', flows: { authorizationCode: flow } } } }
    const hrefOf = (index) => `https://archive.blob.core.windows.net/scenes/${index % distinct}.tif`
    const assets = Object.fromEntries(
      Array.from({ length: distinct }, (_, index) => [index, { href: hrefOf(index), 'auth:refs': ['sas'] }]),
    )
    const item = { type: 'Feature', stac_version: '1.1.0', properties, assets, links: [] }
    const begun = performance.now()
    const requests = await Promise.all(
      Array.from({ length: resolutions }, (_, index) => auth.authorize(assetOf(item, String(index % distinct)))),
    )
    const seconds = (performance.now() - begun) / 1000
    requests.forEach(({ url }, index) => {
      if (url !== `${hrefOf(index)}?${query}`) throw new Error(`resolution ${index} came to a wrong address`)
    })
    const { came, accepted } = api
    return { came, accepted, refused: came.length - accepted, seconds, 'share of the limit': accepted / seconds / limit }
  } finally {
    await api.close()
  }
}

/** Accepts `limit` calls in any second. */
async function startApi(limit, query) {
  const came = []
  let recent = []
  let accepted = 0
  const server = createServer((request, response) => {
    const now = performance.now()
    came.push(now)
    recent = recent.filter((time) => time > now - 1000)
    if (recent.length >= limit) return response.writeHead(429, { 'retry-after': '1' }).end()
    recent.push(now)
    accepted++
    const href = new URL(request.url, 'http://api').searchParams.get('href')
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ href: `${href}?${query}` }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    came,
    get accepted() {
      return accepted
    },
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The most calls within any second. */
function fullest(times) {
  let most = 0
  for (let first = 0, last = 0; last < times.length; last++) {
    while (times[last] - times[first] >= 1000) first++
    most = Math.max(most, last - first + 1)
  }
  return most
}
