/** Optional packages, which users install only when they need them. */

import { UnsupportedError } from '../errors.ts'
import { openFilesFailure } from './system-error.ts'

/** The feature that needs a package, as named in errors. */
export interface PackageUse {
  /** The beginning of a sentence, such as `the queue`. */
  readonly subject: string
  readonly packages: readonly string[]
}

/** Loads an optional package. Errors: `SCHEME_UNSUPPORTED` with the command that installs what the use needs. */
export async function loadOptional<T>(load: () => Promise<T>, { subject, packages }: PackageUse): Promise<T> {
  try {
    return await load()
  } catch (error) {
    const [what, verb] = packages.length === 1 ? ['package', 'is'] : ['packages', 'are']
    const message = `${subject} cannot be used: the optional ${what} ${packages.join(' and ')} ${verb} not installed`
    throw openFilesFailure(error) ?? new UnsupportedError('SCHEME_UNSUPPORTED', message, { hint: `npm install ${packages.join(' ')}` })
  }
}
