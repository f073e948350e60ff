import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { lint, lintOnDemand as onDemand } from '../../src/lint/index.ts'
import { damage, documents, randomFrom } from './damaged.ts'

const verdicts: readonly { readonly document: unknown }[] = JSON.parse(
  readFileSync(new URL('../../fixtures/verdicts.json', import.meta.url), 'utf8'),
)

const SILENT = { type: 'Catalog', stac_version: '1.1.0', id: 'a', description: 'author', links: [{ rel: 'self', href: 'a.json' }] }

it('reports what the linter says, about documents with and without the extension', async () => {
  const subjects = [
    ...verdicts.map(({ document }) => document),
    SILENT,
    [SILENT],
    { type: 'FeatureCollection', features: [] },
    [],
    null,
    'a',
  ]
  expect(subjects.filter((document) => lint(document).length > 0).length).toBeGreaterThan(10)
  for (const document of subjects) expect(await onDemand(document), JSON.stringify(document)).toEqual(lint(document))
})

it('reports the same about damaged documents, under every option', async () => {
  const random = randomFrom(20261122)
  for (let round = 0; round < 500; round++) {
    const options = { preset: 'strict', document: 'a.json', url: 'https://catalog.example/a.json' } as const
    const document = damage(damage(documents[random(documents.length)], random), random)
    expect(await onDemand(document, options)).toEqual(lint(document, options))
  }
})
