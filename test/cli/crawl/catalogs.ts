/** Catalogs for the tests of a crawl, and the crawl itself. */
import { itemWith } from '../items.ts'
import { run } from '../run.ts'
import { type Answer, body } from '../server.ts'

export const HREF = 'https://data.example/f'
export const clean = itemWith({ data: { href: HREF, 'auth:refs': ['key'] } })
export const dangling = itemWith({ data: { href: HREF, 'auth:refs': ['key', 'gone'] } })

export const link = (rel: string, href: string, more: object = {}) => ({ rel, href, ...more })
export const catalog = (...links: object[]) => ({ type: 'Catalog', stac_version: '1.1.0', id: 'c', description: 'c', links })
export const json = (value: unknown): Answer => body(JSON.stringify(value))
export const page = (features: object[], ...links: object[]): Answer => json({ type: 'FeatureCollection', features, links })

/** Runs `lint --crawl --format json`; the report beside the outcome. */
export async function crawl(argv: readonly string[], around: Parameters<typeof run>[1] = {}) {
  const outcome = await run(['lint', '--crawl', '--format', 'json', ...argv], around)
  return { ...outcome, ...(outcome.stdout && JSON.parse(outcome.stdout)) }
}

/** Codes of what could not be read. */
export const codes = (summary: { incomplete: readonly { code: string }[] }) => summary.incomplete.map(({ code }) => code)
