/** The same matrix through the gateway: a program asks it for each URL by a request of its own, and gets no secret back. */
import { once } from 'node:events'
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { createGateway, type GatewayRequest } from '../../src/node/gateway/gateway.ts'
import { leaks } from '../harness/canary.ts'
import { target } from '../harness/documents.ts'
import type { Sent } from '../harness/scripted.ts'
import { allowedPlacesOf, engineOf, examine, type Problems, textsIn, withoutTraces } from './examine.ts'
import { type Material, materials } from './materials.ts'
import { ALLOWED, type Allowed, READ_BY_PARSERS, URLS } from './origins.ts'
import { START } from './ways.ts'

interface Got {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** The request target goes over the wire as it is written here. */
async function get(base: string, path: string, agent: Agent): Promise<Got> {
  const { hostname, port, pathname } = new URL(base)
  const sent = request({ host: hostname, port, path: pathname + path, agent }).end()
  const [response] = await once(sent, 'response')
  return { status: response.statusCode, headers: response.headers, body: await text(response) }
}

async function throughGateway(material: Material, by: Allowed, refuses: boolean): Promise<Problems> {
  const problems: Problems = { list: [], carried: new Set() }
  const { auth, servers, told } = engineOf(material, by, refuses)
  const sent = servers.sent as Sent[]
  const events: GatewayRequest[] = []
  // A document that names all the URLs: its references may select the credential, and no more.
  const assets = Object.fromEntries(URLS.map(([href], number) => [number, { href, 'auth:refs': ['k'] }]))
  const document = { ...target(material.scheme, START).scope.document, assets }
  const gateway = await createGateway(auth, { documents: [{ document }], onRequest: (event) => events.push(event) })
  const agent = new Agent({ keepAlive: true })
  for (const [url] of URLS) {
    for (const wanted of [url, `${START}302?to=${encodeURIComponent(url)}`]) {
      const path = wanted.replace('://', '/').replace(/#.*$/, '')
      const outcome = await get(gateway.base, path.replace(/[^!-[\]-~]/g, encodeURIComponent), agent).catch((error: unknown) => error)
      examine(material, by, 'the gateway', wanted, sent.splice(0), outcome, problems)
    }
  }
  const said = { events: textsIn(events), targets: textsIn(gateway.targets), 'warnings and uses': textsIn(told) }
  problems.list.push(...leaks(material.secrets, said))
  agent.destroy()
  await gateway.close()
  return problems
}

const cells = materials().flatMap((material) => (Object.keys(ALLOWED) as Allowed[]).map((by) => ({ by, material, name: material.name })))

describe.each(cells)('through the gateway, $name that may be sent to $by', ({ by, material }) => {
  it('goes there and nowhere else', async () => {
    const { list, carried } = await withoutTraces(() => throughGateway(material, by, false))
    expect(list.slice(0, 5)).toEqual([])
    // Paths with dots are refused whatever they mean, and an `s3` credential is for keys of buckets.
    const places = [...allowedPlacesOf(by)].filter(
      (place) => !place.startsWith(START) && !READ_BY_PARSERS[by]?.includes(place) && !place.includes('..'),
    )
    const missing = places.filter((place) => !carried.has(`the gateway ${place}`))
    if (material.credential.type !== 's3') expect(missing).toEqual([])
  })

  it('is not in what comes back from a server that refuses and repeats it', async () => {
    const { list } = await withoutTraces(() => throughGateway(material, by, true))
    expect(list.slice(0, 5)).toEqual([])
  })
})
