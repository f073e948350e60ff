import { describe, expect, it } from 'vitest'
import { lint, lintText } from '../../src/lint/index.ts'
import { caseCount } from '../harness/case-count.ts'
import { EXTENSION } from '../harness/documents.ts'
import { damage, documents, randomFrom } from './damaged.ts'

const sound = (problems: readonly { code: string; message: string; pointer: string }[]) =>
  problems.every(
    ({ code, message, pointer }) => code && message && !/\{\S/.test(message) === !/\{\w+\}/.test(message) && /^(?:\/.*)?$/s.test(pointer),
  )

describe('damaged documents', () => {
  it('never make it throw, and every finding has a message and a pointer', () => {
    const random = randomFrom(20261120)
    for (let left = caseCount(6000, 500); left > 0; left--) {
      let document: unknown = documents[random(documents.length)]
      for (let times = 1 + random(4); times > 0; times--) document = damage(document, random)
      const text = JSON.stringify(document) ?? 'null'
      const problems = lint(JSON.parse(text), { preset: 'strict' })
      expect(sound(problems), text).toBe(true)
      expect(
        lintText(text, { preset: 'strict' })
          .map(({ code, pointer }) => `${code} ${pointer}`)
          .sort(),
        text,
      ).toEqual(problems.map(({ code, pointer }) => `${code} ${pointer}`).sort())
    }
    expect(Object.prototype).not.toHaveProperty('auth:refs')
  })

  it('damaged documents give the same findings whether clean documents like them were seen before or not', () => {
    const clean = catalogItem()
    expect(lintText(JSON.stringify(clean), { preset: 'strict' })).toEqual([])
    const random = randomFrom(7)
    for (let left = caseCount(3000, 500); left > 0; left--) {
      const text = JSON.stringify(damage(clean, random)) ?? 'null'
      const seen = lintText(text, { preset: 'strict' }).map(({ code, pointer }) => `${code} ${pointer}`)
      const fresh = lintText(text, { preset: 'strict', rules: {} }).map(({ code, pointer }) => `${code} ${pointer}`)
      expect(seen, text).toEqual(fresh)
    }
  })
})

/** An Item that has a bit of everything and nothing wrong with it. */
function catalogItem() {
  const refs = { 'auth:refs': ['oidc', 'key'] }
  return {
    type: 'Feature',
    stac_version: '1.1.0',
    stac_extensions: [EXTENSION],
    id: 'scene',
    geometry: { type: 'Point', coordinates: [1, 2] },
    properties: {
      datetime: '2026-01-01T00:00:00Z',
      'auth:schemes': {
        oidc: { type: 'openIdConnect', openIdConnectUrl: 'https://id.example/.well-known/openid-configuration' },
        key: { type: 'apiKey', name: 'x-api-key', in: 'header' },
        store: { type: 's3' },
      },
    },
    links: [
      { rel: 'self', href: 'https://data.example/item.json', ...refs },
      { rel: 'license', href: 'https://spdx.org/licenses/MIT' },
    ],
    assets: {
      data: {
        href: 'https://data.example/a.tif',
        roles: ['data'],
        ...refs,
        alternate: { s3: { href: 's3://bucket/a.tif', 'auth:refs': ['store'], 'storage:refs': ['eu'] } },
      },
      thumbnail: { href: 'https://data.example/a.png' },
    },
  }
}
