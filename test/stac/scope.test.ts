import { describe, expect, it } from 'vitest'
import { assetOf, type Target, targetsOf } from '../../src/stac/target.ts'
import { asset, collection, found, item, scheme } from '../harness/documents.ts'
import { DATA, entries, victim } from '../harness/victim.ts'

const F = `${DATA}f.tif`

/** The entry that a target gets from a user with one key, or the code of its refusal. */
async function chosen(wanted: Target): Promise<string | undefined> {
  const { auth } = victim({ credentials: entries.key })
  const [first] = (await auth.explain(wanted)).refs
  return first?.code ?? first?.credential
}

describe('schemes are looked up', () => {
  const own = { ...scheme.key(), description: 'near' }
  const far = scheme.basic

  it('schemes are looked up on the target, in its document, in what the caller passed, and nowhere else', async () => {
    const options = { parents: [collection({ k: own, p: own }), collection({ k: far, q: far })] }
    const near = found(assetOf(item({ k: far }, { data: asset(F, ['k'], { 'auth:schemes': { k: own } }) }), 'data', options))
    expect(await chosen(near)).toBe('key')
    const lent = (ref: string) => found(assetOf(item({ x: far }, { data: asset(F, [ref]) }), 'data', options))
    expect(await chosen(lent('p'))).toBe('key')
    expect(await chosen(lent('k'))).toBe('key')
    expect(await chosen(lent('gone'))).toBe('SCHEME_NOT_FOUND')
    expect(await chosen(found(assetOf(item({ k: far }, { data: asset(F) }), 'data', options)))).toBe('NO_CREDENTIAL')
  })

  it('schemes are looked up in the wrapper of an Item', async () => {
    const feature = item(undefined, { data: asset(F) })
    const wrapper = { type: 'FeatureCollection', features: [feature], 'auth:schemes': { k: own } }
    const [wanted] = [...targetsOf(wrapper)]
    expect(wanted?.pointer).toBe('/features/0/assets/data')
    expect(await chosen(found(wanted))).toBe('key')
  })

  it('schemes are looked up in the summaries for item_assets only', async () => {
    const document = collection(
      {},
      { summaries: { 'auth:schemes': [{ k: own }] }, item_assets: { data: asset(F) }, assets: { data: asset(F) } },
    )
    const results = await Promise.all([...targetsOf(document)].map(async (wanted) => [wanted.kind, await chosen(wanted)]))
    expect(results).toEqual([
      ['asset', 'SCHEME_NOT_FOUND'],
      ['item_asset', 'key'],
    ])
  })
})
