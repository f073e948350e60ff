import { Item } from 'stac-js'
import { describe, expect, it } from 'vitest'
import { readAsset } from '../../examples/adapters/stac-js.ts'
import { targetOf } from '../../src/adapters/stac-js.ts'
import { alternateOf, assetOf, linkOf } from '../../src/stac/target.ts'
import { item, scheme } from '../harness/documents.ts'
import { keepsTheGrant } from './grant.ts'

keepsTheGrant({
  files: { 'a.txt': 'text' },
  name: 'a.txt',
  read: (auth, { href }, { document, origin }) => readAsset(auth, document(href), `${origin}/item.json`, 'data'),
  expected: 'text',
})

describe('an object of stac-js', () => {
  const url = 'https://catalog.example/items/x.json'
  const document = item(
    { k: scheme.key() },
    { data: { href: './a%2Fb.tif', 'auth:refs': ['k'], alternate: { copy: { href: '../c.tif' } } } },
    {
      links: [
        { rel: 'root', href: '../catalog.json' },
        { rel: 'item', href: 'one.json', 'auth:refs': ['k'] },
        { rel: 'item', href: 'two.json', 'auth:refs': ['k'] },
      ],
    },
  )
  const object = new Item(document, url)
  const alike = ({ href, refs, pointer, scope }: NonNullable<ReturnType<typeof targetOf>>) => ({ href, refs, pointer, url: scope.url })

  it('an object of stac-js is the target that its document has: assets, alternates, links of one relation', () => {
    const pairs = [
      [targetOf(object.getAsset('data')), assetOf(document, 'data', { url })],
      [targetOf(object.getAsset('data')?.alternate?.copy), alternateOf(document, 'data', 'copy', { url })],
      [targetOf(object.links[0]), linkOf(document, 'root', { url })],
      [targetOf(object.links[1]), linkOf(document, 'item', { url })],
      [targetOf(object.links[2]), linkOf(document, 'item', { url, index: 1 })],
    ] as const
    for (const [ours, theirs] of pairs) {
      if (!ours || !theirs) throw new Error('a target is missing')
      expect(alike(ours)).toEqual(alike(theirs))
    }
    expect(pairs[1][0]).toMatchObject({ refs: ['k'], href: '../c.tif' })
    expect(pairs[4][0]).toMatchObject({ href: 'two.json' })
  })

  it('an object of stac-js outside a document is not a target', () => {
    expect(targetOf(null)).toBeUndefined()
    expect(targetOf(object.getAsset('other'))).toBeUndefined()
    expect(targetOf({ getContext: () => null, isAsset: true, getKey: () => 'data' })).toBeUndefined()
    expect(targetOf({ getContext: () => object, isLink: true, rel: 'item' })).toBeUndefined()
  })
})
