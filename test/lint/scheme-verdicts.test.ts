import { describe, expect, it } from 'vitest'
import type { SchemeMap } from '../../src/lint/model.ts'
import { type Finding, Verdicts } from '../../src/lint/runner.ts'
import type { JsonObject } from '../../src/stac/document.ts'

const mapOf = (value: JsonObject): SchemeMap => ({
  value,
  pointer: '/auth:schemes',
  summary: false,
  version: '1.1.0',
  declared: true,
  preset: 'recommended',
  schemes: [],
})
const scheme = (host: unknown, more: JsonObject = {}): JsonObject => ({ key: { type: 'openIdConnect', openIdConnectUrl: host, ...more } })
const finding = (message: string): Finding => ({
  rule: 'r',
  code: 'r',
  severity: 'warn',
  message,
  pointer: '/auth:schemes/key',
  fix: undefined,
  near: undefined,
})

/** Asks for the findings about each map, which tell the map; returns for which maps nothing was known. */
function asked(verdicts: Verdicts, values: readonly JsonObject[]): number[] {
  return values.flatMap((value, index) => {
    let isAsked = false
    const message = JSON.stringify(value)
    const found = verdicts.of(mapOf(value), () => {
      isAsked = true
      return [finding(message)]
    })
    expect(found).toEqual([finding(message)])
    return isAsked ? [index] : []
  })
}

describe('verdicts about maps of schemes', () => {
  const hosts = Array.from({ length: 60 }, (_, index) => scheme(`https://id${index}.example/`))

  it('verdicts about maps of schemes are asked once for each value, wherever the values differ', () => {
    const verdicts = new Verdicts()
    const values = [
      ...hosts.slice(0, 20),
      scheme(1),
      scheme(null),
      scheme([1]),
      scheme({}),
      {},
      scheme('https://id1.example/', { description: 'x' }),
    ]
    expect(asked(verdicts, values)).toEqual(values.map((_, index) => index))
    expect(asked(verdicts, structuredClone(values).reverse())).toEqual([])
  })

  it('forget the oldest value first, and know those after it', () => {
    const verdicts = new Verdicts()
    const more = Array.from({ length: 10 }, (_, index) => scheme(`https://id1.example/`, { description: `number ${index}` }))
    asked(verdicts, [...hosts, ...more])
    // 64 are kept: the first six are gone.
    expect(asked(verdicts, [...hosts.slice(6), ...more])).toEqual([])
    expect(asked(verdicts, [hosts[0] ?? {}])).toEqual([0])
  })
})
