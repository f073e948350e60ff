/** Cycles among the `auth:refs` of schemes. */
import { own, ownString, pointer } from '../../stac/document.ts'
import { nearMiss } from '../../text/suggest.ts'
import type { SchemeNode } from '../model.ts'
import { rule } from '../rule.ts'

export const schemeRefs = rule('scheme-refs', 'flows', {
  'scheme-ref-dangling': {
    levels: ['error', 'error', 'off'],
    messages: { undefined: 'auth:refs names "{ref}", which this auth:schemes does not define: define it, or correct the name' },
    fix: 'suggestion',
    scheme({ refs, pointer: where, map: { value: siblings } }, report) {
      for (const [index, ref] of refs.entries()) {
        if (typeof ref !== 'string' || Object.hasOwn(siblings, ref)) continue
        report(`${where}/auth:refs/${index}`, 'undefined', { ref, near: nearMiss(ref, Object.keys(siblings)) })
      }
    },
  },
  'scheme-ref-cycle': {
    levels: ['error', 'error', 'off'],
    messages: { cycle: 'schemes refer to each other in a circle: {path}. Remove one reference' },
    document({ schemes }, report) {
      for (const { path, pointer: where } of cyclesIn(schemes)) report(where, 'cycle', { path: path.join(' → ') })
    },
  },
  'token-exchange-input': {
    levels: ['error', 'error', 'error'],
    messages: { missing: 'a scheme with the flow tokenExchange needs auth:refs: name the scheme whose token is exchanged' },
    claim({ keyword, missing, name, pointer: where }, { at }, report) {
      if (missing !== 'auth:refs' && !(keyword === 'minItems' && name === 'auth:refs')) return false
      report(at + where, 'missing')
      return true
    },
    // The schemas of older versions do not define the exchange, so the preset `schema` does not report it.
    scheme({ value, type, flows, pointer: where, map: { version, preset } }, report) {
      if (type !== 'oauth2' || version === '1.2.0' || preset === 'schema') return
      const refs = own(value, 'auth:refs')
      if (own(flows, 'tokenExchange') === undefined) return
      if (refs === undefined) report(where, 'missing')
      else if (Array.isArray(refs) && refs.length === 0) report(`${where}/auth:refs`, 'missing')
    },
  },
  'chain-input-type': {
    levels: ['warn', 'warn', 'off'],
    messages: {
      'no-token': 'a scheme of type {type} yields no token to exchange: refer to an oauth2 or openIdConnect scheme',
      'no-login': 'a scheme of type {type} yields nothing that keys are given for: refer to an oauth2 or openIdConnect scheme',
    },
    scheme({ refs, type: of, pointer: where, map: { value: siblings } }, report) {
      for (const [index, ref] of refs.entries()) {
        const input = typeof ref === 'string' ? own(siblings, ref) : undefined
        const type = ownString(input, 'type') ?? ''
        const isLogin = type === 'apiKey' || (type === 'http' && ownString(input, 'scheme')?.toLowerCase() !== 'bearer')
        if (type === 's3' || type === 'signedUrl' || (isLogin && of !== 'signedUrl' && of !== 's3'))
          report(`${where}/auth:refs/${index}`, of === 's3' ? 'no-login' : 'no-token', { type })
      }
    },
  },
  'subject-token-type': {
    levels: ['warn', 'warn', 'off'],
    messages: { unused: 'only the flow tokenExchange uses subjectTokenType: remove it' },
    fix: 'suggestion',
    flow({ name, value, pointer: where, scheme }, report) {
      if (scheme.type === 'oauth2' && name !== 'tokenExchange' && own(value, 'subjectTokenType') !== undefined) {
        report(`${where}/subjectTokenType`, 'unused')
      }
    },
  },
})

/** A cycle, reported at its first scheme in document order. */
interface Cycle {
  /** Names in the order of the cycle, which starts and ends with the first scheme. */
  readonly path: readonly string[]
  /** Pointer of the ref in the first scheme that enters the cycle. */
  readonly pointer: string
}

/** Returns the shortest cycle of each scheme that is not in one found before. */
function cyclesIn(schemes: readonly SchemeNode[]): readonly Cycle[] {
  const found: Cycle[] = []
  const told = new Set<SchemeNode>()
  for (const scheme of schemes) {
    if (scheme.refs.length === 0 || told.has(scheme)) continue
    const path = wayBack(scheme)
    if (!path) continue
    for (const member of path) told.add(member)
    const names = [...path, scheme].map(({ name }) => name)
    found.push({ path: names, pointer: pointer(scheme.pointer, 'auth:refs', scheme.refs.indexOf(names[1])) })
  }
  return found
}

/** Returns the shortest path from a scheme back to itself, without its end; breadth first, so that no depth can exhaust the stack. */
function wayBack(start: SchemeNode): readonly SchemeNode[] | undefined {
  const byName = new Map(start.map.schemes.map((scheme) => [scheme.name, scheme]))
  const cameFrom = new Map<SchemeNode, SchemeNode>()
  const queue = [start]
  for (const scheme of queue) {
    for (const ref of scheme.refs) {
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
