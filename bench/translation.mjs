/**
 * One text per request through the client of the translation service, against the official client and against undici alone, which is
 * the floor. The server is a process of its own; contenders take turns, so that a busy machine slows all of them.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import * as deepl from 'deepl-node'
import { Agent, request } from 'undici'
import { ServiceLimits } from '../dist/services/client/index.js'
import { TranslationClient } from '../dist/services/translation/index.js'

const CONCURRENCY = [1, 32]
const CALLS = 600

/** Arguments of `run` for the smallest measurement, which only shows that it works. */
export const smallest = [1]

/** Rows of `{ name, ratio, target, unit, better, details }`. */
export async function run(rounds = 9) {
  const server = fork(new URL('servers/translation.mjs', import.meta.url))
  try {
    const [port] = await once(server, 'message')
    const { contenders, close } = contend(`http://127.0.0.1:${port}`)
    const rows = []
    for (const concurrency of CONCURRENCY) rows.push(...(await compare(contenders, concurrency, rounds)))
    await close()
    return rows
  } finally {
    server.kill()
  }
}

/** Each gives one translation. */
function contend(url) {
  const client = new TranslationClient({ apiKey: 'bench', baseUrl: url, allowInsecure: 'loopback', limits: new ServiceLimits() })
  const official = new deepl.Translator('bench', { serverUrl: url, retries: 0 })
  const dispatcher = new Agent({ connections: 16 })
  const headers = { authorization: 'DeepL-Auth-Key bench', 'content-type': 'application/json' }
  const raw = async () => {
    const body = JSON.stringify({ text: ['Hello world'], target_lang: 'DE' })
    const answer = await request(`${url}/v2/translate`, { method: 'POST', headers, body, dispatcher })
    return (await answer.body.json()).translations[0].text
  }
  return {
    close: () => dispatcher.close(),
    contenders: {
      ours: async () => (await client.translateText({ text: ['Hello world'], target_lang: 'DE' })).translations[0].text,
      'deepl-node': async () => (await official.translateText('Hello world', null, 'de')).text,
      undici: raw,
    },
  }
}

async function compare(contenders, concurrency, rounds) {
  const found = Object.fromEntries(Object.keys(contenders).map((name) => [name, { seconds: [], cpu: [] }]))
  for (let round = -2; round < rounds; round++) {
    for (const [name, call] of Object.entries(contenders)) {
      const { seconds, cpu } = await measure(call, concurrency)
      if (round < 0) continue
      found[name].seconds.push(seconds)
      found[name].cpu.push(cpu)
    }
  }
  const perSecond = (name) => CALLS / median(found[name].seconds)
  const cpu = (name) => median(found[name].cpu)
  const at = `concurrency ${concurrency}`
  return [
    {
      name: `Translation: requests, ${at}`,
      ratio: perSecond('ours') / perSecond('deepl-node'),
      target: concurrency === 1 ? 2 : 3,
      unit: '× deepl-node',
      better: 'higher',
      details: { 'requests/s': perSecond('ours'), 'of deepl-node': perSecond('deepl-node'), 'of undici': perSecond('undici') },
    },
    {
      name: `Translation: processor time, ${at}`,
      ratio: cpu('ours') / cpu('undici'),
      target: 1.5,
      unit: '× undici',
      better: 'lower',
      details: { 'µs of ours': cpu('ours'), 'of undici': cpu('undici'), 'of deepl-node': cpu('deepl-node') },
    },
  ]
}

/** Seconds for all calls, and microseconds of this process for each. */
async function measure(call, concurrency) {
  let left = CALLS
  const worker = async () => {
    while (left-- > 0) if ((await call()) !== 'Hallo Welt') throw new Error('a contender did not get its translation')
  }
  const cpu = process.cpuUsage()
  const start = process.hrtime.bigint()
  await Promise.all(Array.from({ length: concurrency }, worker))
  const seconds = Number(process.hrtime.bigint() - start) / 1e9
  const { user, system } = process.cpuUsage(cpu)
  return { seconds, cpu: (user + system) / CALLS }
}

function median(values) {
  return [...values].sort((one, other) => one - other)[values.length >> 1]
}

if (import.meta.filename === process.argv[1]) console.table(await run())
