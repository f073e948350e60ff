/** The servers that ask for proofs of keys refuse what real ones refuse: proofs that were seen before, and proofs for something else. */

import { afterEach, describe, expect, it } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import type { TokenChallenge } from '../../src/strategies/http/private-token.ts'
import { target } from '../harness/documents.ts'
import { testKey } from '../harness/keys.ts'
import { unchecked } from '../harness/unchecked.ts'
import { type AnsweringServer, startAnswering } from './answering-server.ts'
import { startDpopResource } from './dpop-resource.ts'
import { gnapGuard } from './gnap-guard.ts'
import type { Guard } from './guards.ts'
import { hobaGuard } from './hoba-guard.ts'
import { thumbprintOf } from './jws.ts'
import { ISSUER, issuerKey, privateTokenGuard, readyToken } from './private-token-server.ts'
import { vapidGuard } from './vapid-guard.ts'

const ec = testKey.p256()
const rsa = testKey.rsa()
const issuer = issuerKey()
const guarded = (guard: Guard) => startAnswering((request) => guard(request) ?? { status: 200 })

interface Case {
  readonly start: () => Promise<AnsweringServer>
  readonly fields: Readonly<Record<string, unknown>>
  readonly replayed: number
  readonly elsewhere: number
  readonly refused: number
}

const cases: Readonly<Record<string, Case>> = {
  dpop: {
    start: () => startDpopResource({ token: 'token', jkt: thumbprintOf(ec.publicKey) }),
    fields: { token: 'token', privateKey: ec.pem },
    replayed: 401,
    elsewhere: 401,
    refused: 401,
  },
  gnap: {
    start: () => guarded(gnapGuard({ token: 'token', keyId: 'k', key: ec.publicKey })),
    fields: { token: 'token', privateKey: ec.pem, keyId: 'k' },
    replayed: 401,
    elsewhere: 401,
    refused: 401,
  },
  // The next three sign no address: their proofs are for the whole origin.
  hoba: {
    start: () => guarded(hobaGuard(new Map([['k', rsa.publicKey]]))),
    fields: { privateKey: rsa.pem, keyId: 'k' },
    replayed: 401,
    elsewhere: 200,
    refused: 401,
  },
  privatetoken: {
    start: () => guarded(privateTokenGuard({ key: issuer })),
    fields: { issuerName: ISSUER, issuer: async ({ bytes }: TokenChallenge) => readyToken(bytes, issuer) },
    replayed: 401,
    elsewhere: 200,
    refused: 401,
  },
  vapid: {
    start: () => guarded(vapidGuard(ec.publicKey)),
    fields: { privateKey: ec.pem, subject: 'mailto:a@example.com' },
    replayed: 200,
    elsewhere: 200,
    refused: 403,
  },
}

describe.each(Object.entries(cases))('%s', (scheme, { start, fields, replayed, elsewhere, refused }) => {
  const servers: AnsweringServer[] = []
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close()
  })

  async function ready() {
    const server = await start()
    servers.push(server)
    const auth = createAuth({ credentials: unchecked({ type: 'http', scheme, sendTo: `${server.origin}/`, ...fields }) })
    const { headers, url } = await auth.authorize(target({ type: 'http', scheme }, `${server.origin}/a`))
    const status = async (address = url, changed: Readonly<Record<string, string>> = {}) =>
      (await fetch(address, { headers: { ...headers, ...changed } })).status
    return { status, server, headers }
  }

  it('accepts a proof, and knows it again', async () => {
    const { status } = await ready()
    expect(await status()).toBe(200)
    expect(await status()).toBe(replayed)
  })

  it('knows what a proof is for', async () => {
    const { status, server } = await ready()
    expect(await status(`${server.origin}/b`)).toBe(elsewhere)
  })

  it('refuses a proof for another origin and a changed one', async () => {
    const { status, server, headers } = await ready()
    expect(await status(`${server.origin.replace('127.0.0.1', 'localhost')}/a`)).toBe(refused)
    const name = ['signature', 'dpop', 'authorization'].find((one) => one in headers) ?? ''
    const [middle, value] = [Math.floor((headers[name] ?? '').length / 2), headers[name] ?? '']
    const changed = `${value.slice(0, middle)}${value[middle] === 'A' ? 'B' : 'A'}${value.slice(middle + 1)}`
    expect(await status(undefined, { [name]: changed })).toBe(refused)
  })
})
