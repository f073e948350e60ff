import type { Auth } from '../auth/auth.ts'
import type { Target } from '../stac/target.ts'
import type { Io } from './io.ts'
import { chosenTarget, isChosen, type TargetChoice } from './options.ts'
import { isAddress, readDocument } from './read-document.ts'
import { usageError } from './usage.ts'

/**
 * What a command is about: the target that the options choose from a document, or else an address that the user typed.
 *
 * Errors: `USAGE` for a file without a choice from it, and for an address that nobody can fetch; those of `readDocument`;
 * `TARGET_NOT_FOUND`.
 *
 * @param deed what is to be done to it, for messages: `fetched`
 */
export async function targetOrAddress(
  name: string,
  choice: TargetChoice,
  io: Io,
  auth: () => Promise<Auth>,
  deed: string,
): Promise<Target | string> {
  if (!isChosen(choice)) {
    requireAddress(name, deed)
    return name
  }
  const { document, url } = await readDocument(name, io, auth)
  return chosenTarget(document, choice, url === undefined ? {} : { url })
}

function requireAddress(name: string, deed: string): void {
  const scheme = /^([a-z][a-z0-9+.-]*:)\/\//i.exec(name)?.[1]?.toLowerCase()
  if (scheme === undefined) throw usageError(`what is to be ${deed}? Give --asset KEY, --alternate KEY/NAME or --link REL`)
  if (isAddress(name) || scheme === 's3:' || scheme === 'gs:') return
  throw usageError(`${scheme} addresses cannot be ${deed}: only https:, http:, s3: and gs: addresses can`)
}
