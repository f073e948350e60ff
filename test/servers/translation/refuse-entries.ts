import { refuse } from './refuse.ts'

/** Refuses what is wrong with a glossary, in the form that the glossary operations have for it. */
export function refuseEntries(detail: string): never {
  return refuse(400, 'Bad request', { detail })
}
