/** What runs in the page: signs the odd requests with the platform of browsers. */
import { presign, signHeaders } from '../../src/strategies/s3/sigv4.ts'
import { type Case, cases, urlOf } from '../strategies/s3/cases.ts'

/** Address and headers of every case after signing, as one line each, and whether the platform hashed by promises. */
export async function signAll(count: number, seed: number): Promise<{ lines: string[]; promised: boolean }> {
  const lines: string[] = []
  let promised = true
  for (const one of cases(count, seed)) {
    for (const signing of [inHeaders(one), inQuery(one)]) {
      promised &&= signing instanceof Promise
      const { url, headers } = await signing
      lines.push(JSON.stringify([url, headers]))
    }
  }
  return { lines, promised }
}

function inHeaders(one: Case) {
  const { region, now, headers } = one
  return signHeaders({ method: 'GET', url: urlOf(one), headers }, one, { region, now, requesterPays: one.now % 2000 === 0 })
}

function inQuery(one: Case) {
  const { region, now, expiresIn = 900 } = one
  return presign({ method: 'GET', url: urlOf(one), headers: {} }, one, { region, now, expiresIn, requesterPays: one.now % 2000 === 0 })
}

Object.assign(globalThis, { signAll })
