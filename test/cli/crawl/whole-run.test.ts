import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { put, temporaryFolder } from '../folder.ts'
import { itemWith, KEY_SCHEME } from '../items.ts'
import { run } from '../run.ts'
import { serve } from '../server.ts'
import { catalog, clean, crawl, dangling, HREF, json, link, page } from './catalogs.ts'

const folder = await temporaryFolder()

describe('a whole run', () => {
  it('reports schemes of one name with different meanings: each meaning once, at its first document', async () => {
    const other = (id: string, name: string) => ({
      ...itemWith({ data: { href: HREF, 'auth:refs': ['key'] } }, { schemes: { key: { ...KEY_SCHEME, name } } }),
      id,
    })
    const server = await serve({
      '/': json(catalog(...['c', 'b', 'a', 'd'].map((path) => link('item', path)), link('child', 'page'))),
      '/a': json({ ...clean, id: 'first' }),
      '/b': json(other('second', 'x-other')),
      '/c': json(other('third', 'x-other')),
      '/d': json({ ...clean, id: 'fourth' }),
      '/page': page([clean, other('inner', 'x-inner')]),
    })
    const { problems } = await crawl([server.origin])
    const found = problems.map(({ code, document, pointer, id, message }: Record<string, string>) => [
      code,
      document?.slice(server.origin.length),
      pointer,
      id,
      message,
    ])
    expect(found).toEqual([
      [
        'conflicting-scheme',
        'b',
        '/properties/auth:schemes/key',
        'second',
        `the scheme "key" differs from that in first (${server.origin}a): use one definition or two names`,
      ],
      [
        'conflicting-scheme',
        'page',
        '/features/1/properties/auth:schemes/key',
        'inner',
        `the scheme "key" differs from that in first (${server.origin}a): use one definition or two names`,
      ],
    ])
  })

  it('compares the schemes of Catalogs that an API lists as its children, too', async () => {
    const child = (id: string, name: string) => ({ ...catalog(), id, 'auth:schemes': { key: { ...KEY_SCHEME, name } } })
    const server = await serve({
      '/': json({ ...catalog(link('children', 'list')), conformsTo: ['https://api.stacspec.org/v1.0.0/children'] }),
      '/list': json({ children: [child('one', 'x-one'), child('two', 'x-two')], links: [] }),
    })
    const { problems } = await crawl([server.origin])
    expect(problems.filter(({ code }: { code: string }) => code === 'conflicting-scheme')).toMatchObject([
      {
        pointer: '/children/1/auth:schemes/key',
        id: 'two',
        message: `the scheme "key" differs from that in one (${server.origin}list): use one definition or two names`,
      },
    ])
  })

  it('a whole run may be configured: rules by address, and origins to visit', async () => {
    const other = await serve({ '/i': json(dangling) })
    const server = await serve({ '/': json(catalog(link('item', '/i'), link('item', `${other.origin}i`))), '/i': json(dangling) })
    const config = await put(folder, 'config.json', {
      origins: [other.origin.slice(0, -1)],
      overrides: [{ files: [server.origin], rules: { 'dangling-ref': 'warn' } }],
    })
    // Naming an origin is no grant, and no permission to ask a private address.
    expect((await crawl([server.origin, '--config', config])).summary.incomplete).toMatchObject([
      { url: `${other.origin}i`, code: 'URL_ADDRESS_FORBIDDEN', exit: 5, hint: expect.stringContaining('type its URL') },
    ])
    const { problems } = await crawl([server.origin, `${other.origin}i`, '--config', config])
    expect(problems.map(({ document, severity }: Record<string, string>) => [document, severity]).sort()).toEqual(
      [
        [`${server.origin}i`, 'warn'],
        [`${other.origin}i`, 'error'],
      ].sort(),
    )
  })

  it('a whole run has a baseline like any other', async () => {
    const server = await serve({ '/': json(catalog(link('item', '/i'), link('item', '/gone'))), '/i': json(dangling) })
    const baseline = join(folder, 'baseline.json')
    expect((await crawl([server.origin, '--baseline', baseline, '--update-baseline'])).code).toBe(5)
    const { code } = await run(['lint', '--crawl', server.origin, '--fix'])
    expect(code).toBe(2)
  })

  it.each(['--update-baseline', '--prune-baseline'])(
    'a whole run is what a baseline is written by, not a part of one: %s',
    async (writes) => {
      const server = await serve({ '/': json(catalog(link('item', 'a'), link('item', 'b'))), '/a': json(dangling), '/b': json(dangling) })
      const baseline = join(folder, `part${writes}.json`)
      await run(['lint', '--crawl', server.origin, '--baseline', baseline, '--update-baseline'])
      const before = await readFile(baseline, 'utf8')
      const part = ['lint', '--crawl', server.origin, '--baseline', baseline, '--shard', '1/2']
      expect([(await run([...part, writes])).code, await readFile(baseline, 'utf8')]).toEqual([2, before])
      // What belongs to other parts is not told as gone.
      expect(await run(part)).toMatchObject({ code: 0, stderr: '' })
    },
  )
})
