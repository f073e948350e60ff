/** Optional packages, which users install only when they need them. */

import { type AuthError, UnsupportedError } from '../../errors.ts'
import { openFilesFailure } from './system-error.ts'

/** The feature that needs a package, as named in errors. */
export interface PackageUse {
  /** The beginning of a sentence, such as `the queue`. */
  readonly subject: string
  readonly packages: readonly string[]
}

/**
 * Returns the error of an optional package that cannot be imported: `SCHEME_UNSUPPORTED` with the command that installs what the use needs.
 * Call it in the `catch` around `import()`: only inside a `try` do bundlers accept that a package is missing.
 */
export function missingPackage(error: unknown, { subject, packages }: PackageUse): AuthError {
  const [what, verb] = packages.length === 1 ? ['package', 'is'] : ['packages', 'are']
  const message = `${subject} cannot be used: the optional ${what} ${packages.join(' and ')} ${verb} not installed`
  return openFilesFailure(error) ?? new UnsupportedError('SCHEME_UNSUPPORTED', message, { hint: `npm install ${packages.join(' ')}` })
}
