/** Survivors that change nothing anyone can notice, or that are not worth a test, each with a reason. */
import type { Mutant } from './mutants.ts'

interface Explanation {
  /** The function that contains it. */
  readonly within: string
  /** The code before and after the change, on one line each; `becomes` is left out for every change of that code. */
  readonly code: string
  readonly becomes?: string
  readonly reason: string
}

/** By the path of the source file. */
export type Explained = Readonly<Record<string, readonly Explanation[]>>

/** Returns why a survivor may survive. */
export function explanationOf(explained: Explained, path: string, mutant: Pick<Mutant, 'within' | 'code' | 'becomes'>): string | undefined {
  return explained[path]?.find((entry) => explains(entry, mutant))?.reason
}

/** Returns the explanations of what does not survive. */
export function unusedOf(explained: Explained, path: string, survivors: readonly Mutant[]): readonly Explanation[] {
  return (explained[path] ?? []).filter((entry) => !survivors.some((mutant) => explains(entry, mutant)))
}

function explains(entry: Explanation, { within, code, becomes }: Pick<Mutant, 'within' | 'code' | 'becomes'>): boolean {
  return entry.within === within && entry.code === code && (entry.becomes === undefined || entry.becomes === becomes)
}
