/** Finds the mutant of each guard in its source file. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { GUARDS, type Guard } from '../../test/mutation/guards.ts'
import { type Mutant, mutated } from './mutants.ts'

interface GuardMutants {
  /** The sources with the mutants of the guards, by path. */
  readonly sources: Readonly<Record<string, string>>
  readonly guardOf: ReadonlyMap<number, Guard>
  /** Guards that are at no place of their file, or at several. */
  readonly problems: readonly string[]
}

/** Returns the mutants of all guards, numbered across files. */
export function guardMutants(root: string): GuardMutants {
  const problems: string[] = []
  const sources: Record<string, string> = {}
  const guardOf = new Map<number, Guard>()
  let first = 1
  for (const file of new Set(GUARDS.map(({ file: guardFile }) => guardFile))) {
    const guards = GUARDS.filter((guard) => guard.file === file)
    const isAny = (mutant: Omit<Mutant, 'id'>) => guards.some((guard) => isOf(guard, mutant))
    const { mutants, code } = mutated(readFileSync(join(root, file), 'utf8'), isAny, first)
    first += mutants.length
    sources[file] = code
    for (const guard of guards) {
      const [mutant, ...more] = mutants.filter((found) => isOf(guard, found))
      if (mutant && more.length === 0) guardOf.set(mutant.id, guard)
      else problems.push(`${guard.id}: ${more.length > 0 ? 'several places' : 'no place'} in ${file} with ${guard.code}`)
    }
  }
  return { sources, guardOf, problems }
}

function isOf({ within, code, becomes }: Guard, mutant: Omit<Mutant, 'id'>): boolean {
  return within === mutant.within && code === mutant.code && becomes === mutant.becomes
}
