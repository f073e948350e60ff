/**
 * One request of the time-tracking client against one of `stripe`, a client for form-encoded APIs: a list, and a change by POST. The
 * server is the same, in a thread of its own; both take turns, one call at a time and 32 at once.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'

const rows = Array.from({ length: 10 }, (_, index) => ({ id: index + 1, object: 'customer', name: `Customer ${index}`, active: true }))
const LIST = JSON.stringify({ object: 'list', data: rows })
const ONE = JSON.stringify(rows[0])

if (isMainThread) {
  if (import.meta.filename === process.argv[1]) console.table(await run())
} else serve()

/** Arguments of `run` for the smallest measurement, which only shows that it works. */
export const smallest = [1, 50]

/** Rows of `{ name, ratio, target, unit, details }`; a ratio at or above its target is good. */
export async function run(rounds = 9, calls = 1500) {
  const worker = new Worker(new URL(import.meta.url))
  try {
    const [port] = await once(worker, 'message')
    const contenders = { ours: await ours(port), stripe: await stripe(port) }
    const results = []
    for (const [what, concurrency] of [
      ['list', 1],
      ['list', 32],
      ['update', 1],
      ['update', 32],
    ])
      results.push(await compare(contenders, what, concurrency, rounds, calls))
    return results
  } finally {
    await worker.terminate()
  }
}

async function compare({ ours: one, stripe: other }, what, concurrency, rounds, calls) {
  const times = { ours: [], stripe: [] }
  for (let round = -2; round < rounds; round++) {
    for (const [name, contender] of [
      ['ours', one],
      ['stripe', other],
    ]) {
      const time = await measure(contender[what], concurrency, calls)
      if (round >= 0) times[name].push(time)
    }
  }
  const median = (name) => times[name].sort((a, b) => a - b)[rounds >> 1]
  const details = `${median('ours').toFixed(0)} µs against ${median('stripe').toFixed(0)} µs (stripe)`
  return { name: `REST ${what}, ${concurrency} at once: stripe`, ratio: median('stripe') / median('ours'), target: 1, unit: '×', details }
}

/** Microseconds per call. */
async function measure(call, concurrency, calls) {
  let left = calls
  const start = process.hrtime.bigint()
  const lane = async () => {
    while (left-- > 0) await call()
  }
  await Promise.all(Array.from({ length: concurrency }, lane))
  return Number(process.hrtime.bigint() - start) / calls / 1000
}

async function ours(port) {
  const { TimeTrackingClient } = await import('../dist/services/time-tracking/index.js')
  const { ServiceLimits } = await import('../dist/services/client/index.js')
  const profile = { envelope: { member: 'data' } }
  const options = { token: 'token-of-a-benchmark', allowInsecure: 'loopback', limits: new ServiceLimits(), profile }
  const client = new TimeTrackingClient({ baseUrl: `http://127.0.0.1:${port}/v1`, ...options })
  const customers = client.resource('customers')
  return { list: () => customers.list(), update: () => customers.update(121, { name: 'ACME INC.', active: true }) }
}

async function stripe(port) {
  const { default: Stripe } = await import('stripe')
  const client = new Stripe('sk_test_benchmark', { host: '127.0.0.1', port, protocol: 'http', maxNetworkRetries: 0, telemetry: false })
  return {
    list: () => client.customers.list(),
    update: () => client.customers.update('121', { name: 'ACME INC.', metadata: { active: 'true' } }),
  }
}

/** Answers every list and every change. */
function serve() {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const body = request.method === 'GET' ? LIST : ONE
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }).end(body)
    })
  })
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
}
