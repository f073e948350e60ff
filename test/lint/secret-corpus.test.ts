import { describe, expect, it } from 'vitest'
import { lint } from '../../src/lint/index.ts'
import { EXTENSION } from '../harness/documents.ts'
import { withoutSecret, withSecret } from './secret-corpus.ts'

const isFound = (text: string) =>
  lint({
    type: 'Catalog',
    stac_version: '1.1.0',
    stac_extensions: [EXTENSION],
    id: 'root',
    description: 'Catalog',
    links: [{ rel: 'item', href: 'https://data.example/item.json', 'auth:refs': ['k'] }],
    'auth:schemes': { k: { type: 'http', scheme: 'basic', description: text } },
  }).some(({ code }) => code === 'secret-in-document')

describe('secrets in descriptions', () => {
  const found = withSecret.filter(isFound)
  const alarms = withoutSecret.filter(isFound)

  it('secrets in descriptions are labelled in at least 400 different texts', () => {
    expect(new Set([...withSecret, ...withoutSecret]).size).toBeGreaterThanOrEqual(400)
    expect(withoutSecret.length).toBeGreaterThanOrEqual(180)
  })

  it('secrets in descriptions are nearly all found: recall of at least 0.95', () => {
    const missed = withSecret.filter((text) => !found.includes(text))
    expect(found.length / withSecret.length, missed.join('\n')).toBeGreaterThanOrEqual(0.95)
  })

  it('secrets in descriptions are hardly ever seen where there are none: precision of at least 0.99', () => {
    expect(found.length / (found.length + alarms.length), alarms.join('\n')).toBeGreaterThanOrEqual(0.99)
  })
})
