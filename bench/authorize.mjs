/** `authorize()` with a bearer credential against the mere making of a `Request`, both in microseconds of processor time per call. */
import { assetOf, bearer, createAuth } from 'stac-auth'

const CALLS = 5_000
const ROUNDS = 15
const HREF = 'https://data.example/collections/a/items/b/B04.tif'

const item = {
  type: 'Feature',
  stac_version: '1.1.0',
  stac_extensions: ['https://stac-extensions.github.io/authentication/v1.1.0/schema.json'],
  id: 'b',
  geometry: null,
  properties: { datetime: null, 'auth:schemes': { key: { type: 'http', scheme: 'bearer' } } },
  links: [],
  assets: { B04: { href: HREF, 'auth:refs': ['key'] } },
}

export async function run() {
  const auth = createAuth({ credentials: [bearer('token', 'https://data.example/')] })
  const target = assetOf(item, 'B04')
  const init = { headers: { authorization: 'Bearer token' } }
  const { headers, url } = await auth.authorize(target)
  if (headers.authorization !== init.headers.authorization || url !== HREF) throw new Error('the request is not the one to compare with')

  const ours = []
  const theirs = []
  for (let round = 0; round < ROUNDS; round++) {
    ours.push(await perCall(() => auth.authorize(target)))
    theirs.push(await perCall(() => new Request(HREF, init)))
  }
  const [authorize, request] = [median(ours), median(theirs)]
  const details = { 'authorize µs': authorize, 'new Request µs': request }
  return [
    { name: 'authorize(), bearer', ratio: authorize / request, target: 1, unit: 'of new Request', better: 'lower', steady: true, details },
  ]
}

/** Microseconds per call. Promises are awaited one by one, as a caller does; what is no promise is not. */
async function perCall(call) {
  const started = process.cpuUsage()
  for (let left = CALLS; left > 0; left--) {
    const made = call()
    if (made instanceof Promise) await made
  }
  const { user, system } = process.cpuUsage(started)
  return (user + system) / CALLS
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
}
