/** Cycles among the `auth:refs` of schemes. */
import { isObject, own, ownString, pointer } from '../../stac/document.ts'
import { nearMiss } from '../../text/suggest.ts'
import type { SchemeNode } from '../model.ts'
import type { Rule, RuleCase, RuleDocs } from '../rule.ts'

/** A scheme refers only to schemes of the same map. */
const schemeRefDangling: RuleCase = {
  meta: {
    code: 'scheme-ref-dangling',
    severity: { recommended: 'error', strict: 'error', schema: 'off' },
    messages: { undefined: 'auth:refs names "{ref}", which this auth:schemes does not define: define it, or correct the name' },
    fix: 'suggestion',
  },
  scheme({ value, pointer: where, map: { value: siblings } }, report) {
    const refs = own(value, 'auth:refs')
    if (!Array.isArray(refs)) return
    for (const [index, ref] of refs.entries()) {
      if (typeof ref !== 'string' || Object.hasOwn(siblings, ref)) continue
      report(`${where}/auth:refs/${index}`, 'undefined', { ref, near: nearMiss(ref, Object.keys(siblings)) })
    }
  },
}

/** Schemes do not refer to each other in a cycle. */
const schemeRefCycle: RuleCase = {
  meta: {
    code: 'scheme-ref-cycle',
    severity: { recommended: 'error', strict: 'error', schema: 'off' },
    messages: { cycle: 'schemes refer to each other in a circle: {path}. Remove one reference' },
  },
  document({ schemes }, report) {
    for (const { path, pointer: where } of cyclesIn(schemes)) report(where, 'cycle', { path: path.join(' → ') })
  },
}

/** A token exchange names the scheme whose token is exchanged. */
const tokenExchangeInput: RuleCase = {
  meta: {
    code: 'token-exchange-input',
    severity: { recommended: 'error', strict: 'error', schema: 'error' },
    messages: { missing: 'a scheme with the flow tokenExchange needs auth:refs: name the scheme whose token is exchanged' },
  },
  claim({ keyword, missing, name, pointer: where }, { at }, report) {
    if (missing !== 'auth:refs' && !(keyword === 'minItems' && name === 'auth:refs')) return false
    report(at + where, 'missing')
    return true
  },
  // The schemas of older versions do not define the exchange, so the preset `schema` does not report it.
  scheme({ value, type, pointer: where, map: { version, preset } }, report) {
    if (type !== 'oauth2' || version === '1.2.0' || preset === 'schema') return
    const flows = own(value, 'flows')
    const refs = own(value, 'auth:refs')
    if (!isObject(flows) || !Object.hasOwn(flows, 'tokenExchange')) return
    if (refs === undefined) report(where, 'missing')
    else if (Array.isArray(refs) && refs.length === 0) report(`${where}/auth:refs`, 'missing')
  },
}

/** A scheme that supplies the input of another one yields a token, or what a signing API or a service of keys may accept in its place. */
const chainInputType: RuleCase = {
  meta: {
    code: 'chain-input-type',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: {
      'no-token': 'a scheme of type {type} yields no token to exchange: refer to an oauth2 or openIdConnect scheme',
      'no-login': 'a scheme of type {type} yields nothing that keys are given for: refer to an oauth2 or openIdConnect scheme',
    },
  },
  scheme({ value, type: of, pointer: where, map: { value: siblings } }, report) {
    const refs = own(value, 'auth:refs')
    if (!Array.isArray(refs)) return
    for (const [index, ref] of refs.entries()) {
      const input = typeof ref === 'string' ? own(siblings, ref) : undefined
      const type = ownString(input, 'type') ?? ''
      const isLogin = type === 'apiKey' || (type === 'http' && ownString(input, 'scheme')?.toLowerCase() !== 'bearer')
      if (type === 's3' || type === 'signedUrl' || (isLogin && of !== 'signedUrl' && of !== 's3'))
        report(`${where}/auth:refs/${index}`, of === 's3' ? 'no-login' : 'no-token', { type })
    }
  },
}

/** Only a token exchange has a subject token. */
const subjectTokenType: RuleCase = {
  meta: {
    code: 'subject-token-type',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: { unused: 'only the flow tokenExchange uses subjectTokenType: remove it' },
    fix: 'suggestion',
  },
  flow({ name, value, pointer: where, scheme }, report) {
    if (scheme.type === 'oauth2' && name !== 'tokenExchange' && own(value, 'subjectTokenType') !== undefined) {
      report(`${where}/subjectTokenType`, 'unused')
    }
  },
}

export const schemeRefs: Rule = {
  meta: { id: 'scheme-refs', section: 'flows' },
  cases: [schemeRefDangling, schemeRefCycle, tokenExchangeInput, chainInputType, subjectTokenType],
}

export const docs: RuleDocs = {
  'scheme-ref-dangling': {
    part: 'authentication-scheme-object',
    why: 'The references of a scheme name other schemes of the same auth:schemes whose token it needs. A client does not find this scheme and cannot request its token.',
    repair: ['Correct the name, if the message suggests one.', 'Otherwise define the scheme in the same auth:schemes.'],
  },
  'scheme-ref-cycle': {
    part: 'authentication-scheme-object',
    why: 'A scheme that needs, directly or indirectly, its own token can never start.',
    repair: ['Find the scheme that users can log in to directly.', 'Remove auth:refs from that scheme.'],
  },
  'token-exchange-input': {
    part: 'authentication-scheme-object',
    why: 'The token exchange (RFC 8693) trades the token of another scheme. Without auth:refs a client does not know which token to send.',
    repair: ['Add auth:refs to the scheme, with the name of the oauth2 or openIdConnect scheme that issues the token.'],
  },
  'chain-input-type': {
    part: 'authentication-scheme-object',
    why: 'A token comes from a scheme of type oauth2, openIdConnect or http with bearer. Keys, passwords and signatures cannot be exchanged. A signing API (type signedUrl) also accepts keys and passwords, as does a service that gives keys for an object store (type s3).',
    repair: [
      'Refer to the scheme with which users log in.',
      'If the service accepts a key directly, refer to the key from the assets instead.',
    ],
  },
  'subject-token-type': {
    part: 'oauth2-flow-object',
    why: 'The other flows send no subject token, so clients ignore the type.',
    repair: ['Remove subjectTokenType.', 'If the flow is a token exchange, name it tokenExchange.'],
  },
}

/** A cycle, reported at its first scheme in document order. */
interface Cycle {
  /** Names in the order of the cycle, which starts and ends with the first scheme. */
  readonly path: readonly string[]
  /** Pointer of the ref in the first scheme that enters the cycle. */
  readonly pointer: string
}

/** Returns the shortest cycle of each scheme that is not in one found before. */
function cyclesIn(schemes: readonly SchemeNode[]): readonly Cycle[] {
  const chained = schemes.filter(({ value }) => Array.isArray(own(value, 'auth:refs')))
  if (chained.length === 0) return []
  const found: Cycle[] = []
  const told = new Set<SchemeNode>()
  for (const scheme of chained) {
    if (told.has(scheme)) continue
    const path = wayBack(scheme)
    if (!path) continue
    for (const member of path) told.add(member)
    const names = [...path, scheme].map(({ name }) => name)
    found.push({ path: names, pointer: pointer(scheme.pointer, 'auth:refs', refsOf(scheme).indexOf(names[1])) })
  }
  return found
}

/** Returns the shortest path from a scheme back to itself, without its end; breadth first, so that no depth can exhaust the stack. */
function wayBack(start: SchemeNode): readonly SchemeNode[] | undefined {
  const byName = new Map(start.map.schemes.map((scheme) => [scheme.name, scheme]))
  const cameFrom = new Map<SchemeNode, SchemeNode>()
  const queue = [start]
  for (const scheme of queue) {
    for (const ref of refsOf(scheme)) {
      const next = typeof ref === 'string' ? byName.get(ref) : undefined
      if (next === start) return trace(scheme, start, cameFrom)
      if (!next || cameFrom.has(next)) continue
      cameFrom.set(next, scheme)
      queue.push(next)
    }
  }
  return undefined
}

function trace(end: SchemeNode, start: SchemeNode, cameFrom: ReadonlyMap<SchemeNode, SchemeNode>): readonly SchemeNode[] {
  const path: SchemeNode[] = []
  for (let scheme: SchemeNode | undefined = end; scheme && scheme !== start; scheme = cameFrom.get(scheme)) path.unshift(scheme)
  return [start, ...path]
}

function refsOf({ value }: SchemeNode): readonly unknown[] {
  const refs = own(value, 'auth:refs')
  return Array.isArray(refs) ? refs : []
}
