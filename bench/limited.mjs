/**
 * A service that accepts 20 requests in any second and refuses all others with 429 or 529, without `Retry-After` and with it: how many of 150
 * calls at once succeed, at which share of the allowed rate, and how many requests it refuses. The clients of translations and of time records
 * against `deepl-node` and `stripe`, with the defaults of each, at the same time against a server each: they mostly wait.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import * as deepl from 'deepl-node'
import Stripe from 'stripe'
import { ServiceLimits } from '../dist/services/client/index.js'
import { TimeTrackingClient } from '../dist/services/time-tracking/index.js'
import { TranslationClient } from '../dist/services/translation/index.js'

const REFUSALS = {
  429: [429, {}],
  '429 with Retry-After': [429, { 'retry-after': '1' }],
  529: [529, {}],
}

/** Arguments of `run` for the smallest measurement, which only shows that it works. */
export const smallest = [{ perSecond: 200, calls: 40 }]

const PAIRS = {
  translations: { ours: translations, peer: deeplNode, name: 'deepl-node' },
  'time records': { ours: timeRecords, peer: stripe, name: 'stripe' },
}

/** Rows of `{ name, ratio, target, unit, details }`. */
export async function run({ perSecond = 20, calls = 150 } = {}) {
  const rows = []
  for (const [what, pair] of Object.entries(PAIRS)) {
    for (const [refusal, [status, headers]] of Object.entries(REFUSALS)) {
      const [ours, peer] = await Promise.all([pair.ours, pair.peer].map((make) => measure(make, { perSecond, calls, status, headers })))
      rows.push({
        name: `Limited ${what}: calls that succeed, ${refusal}`,
        ratio: ours.succeeded / peer.succeeded,
        target: 1,
        unit: `× ${pair.name}`,
        details: { ...ours, ...Object.fromEntries(Object.entries(peer).map(([figure, value]) => [`${figure} of ${pair.name}`, value])) },
      })
    }
  }
  return rows
}

async function measure(make, { perSecond, calls, status, headers }) {
  let [accepted, refused, succeeded] = [[], 0, 0]
  const server = createServer((request, response) => {
    request.resume()
    const now = performance.now()
    accepted = accepted.filter((time) => time > now - 1000)
    if (accepted.length >= perSecond) {
      refused++
      return response.writeHead(status, headers).end()
    }
    accepted.push(now)
    const body = request.url.includes('translate') ? { translations: [{ detected_source_language: 'EN', text: 'Hallo' }] } : { id: 7 }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const call = make(server.address().port)
  // Loads and connects.
  await call()
  accepted = []
  const start = performance.now()
  const one = () =>
    call().then(
      () => succeeded++,
      () => undefined,
    )
  await Promise.all(Array.from({ length: calls }, one))
  const seconds = (performance.now() - start) / 1000
  server.closeAllConnections()
  server.close()
  return { succeeded: succeeded / calls, share: succeeded / seconds / perSecond, refused }
}

function translations(port) {
  const url = `http://127.0.0.1:${port}`
  const client = new TranslationClient({ apiKey: 'bench', baseUrl: url, allowInsecure: 'loopback', limits: new ServiceLimits() })
  return () => client.translateText({ text: ['Hello'], target_lang: 'DE' })
}

function deeplNode(port) {
  const client = new deepl.DeepLClient('bench', { serverUrl: `http://127.0.0.1:${port}` })
  return () => client.translateText('Hello', null, 'de')
}

function timeRecords(port) {
  const baseUrl = `http://127.0.0.1:${port}/v1`
  const client = new TimeTrackingClient({ baseUrl, token: 'bench', allowInsecure: 'loopback', limits: new ServiceLimits() })
  return () => client.customers.update(7, { name: 'ACME' })
}

function stripe(port) {
  const client = new Stripe('sk_test_benchmark', { host: '127.0.0.1', port, protocol: 'http', telemetry: false })
  return () => client.customers.update('7', { name: 'ACME' })
}

if (import.meta.filename === process.argv[1]) console.table(await run())
