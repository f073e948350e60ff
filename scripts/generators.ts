import { readdirSync } from 'node:fs'

/** Writes a module that other generators import: they must find it as it is going to be. */
const FIRST = 'generate-rule-pages.ts'

/** Returns the names of all `scripts/generate-*.ts` in the order in which they run. */
export function generators(): readonly string[] {
  const names = readdirSync(new URL('.', import.meta.url)).filter((name) => name.startsWith('generate-') && name.endsWith('.ts'))
  return [FIRST, ...names.filter((name) => name !== FIRST).sort()]
}
