import type { notInPages } from './not-in-pages.ts'

/** Fails as {@link notInPages} does, which is loaded for that. */
export async function missing(what: Parameters<typeof notInPages>[0], detail?: string): Promise<never> {
  return (await import('./not-in-pages.ts')).notInPages(what, detail)
}
