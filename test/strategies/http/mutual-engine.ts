/** What the tests of Mutual share: an engine whose only server is a strict one. */

import { target } from '../../harness/documents.ts'
import { script } from '../../harness/scripted.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { DATA, victim } from '../../harness/victim.ts'
import { type MutualServerOptions, type MutualStep, mutualServer } from '../../servers/mutual-server.ts'

export const F = `${DATA}f.tif`
export const ORIGIN = new URL(DATA).origin
export const ALGORITHM = 'iso-kam3-dl-2048-sha256'
export const ADA = { id: 'mine', type: 'http', scheme: 'mutual', username: 'ada', password: 'pencil', sendTo: DATA }
export const asset = (href = F) => target({ type: 'http', scheme: 'Mutual' }, href)

/** An engine whose only server is this one. */
export function engine(options: Partial<MutualServerOptions> = {}, entry: object = {}, clock = { now: () => 1_800_000_000_000 }) {
  const serve = mutualServer({ users: { ada: 'pencil' }, origin: ORIGIN, ...options })
  const wire = script(serve)
  const { auth } = victim({ credentials: unchecked({ ...ADA, ...entry }), clock }, wire)
  const get = (href?: string) => auth.fetch(asset(href))
  /** What was said by each request: nothing, `kc1`, or the count beside `vkc`. */
  const said = () => wire.sent.map(({ headers }) => /kc1|(?<=nc=)\d+/.exec(headers.authorization ?? '')?.[0] ?? '')
  return { wire, get, auth, said, serve }
}

/** A server that says something else in one header of that step. */
export function changing(wanted: MutualStep, pattern: RegExp, text: string): Partial<MutualServerOptions> {
  const name = wanted === 'verified' ? 'authentication-info' : 'www-authenticate'
  return {
    answer: (answer, step) =>
      step === wanted ? { ...answer, headers: { [name]: (answer.headers?.[name] ?? '').replace(pattern, text) } } : answer,
  }
}
