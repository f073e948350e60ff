/**
 * Compares a scheme with the user's entries by what they are, never by name: the canonical tuple of the scheme must equal
 * the entry's. A URL that the scheme leaves out is no difference; one that it adds is.
 */
import type { Identity, IdentityMember } from './strategy.ts'

/** True when every member of the scheme's tuple stands in the entry's with the same value. */
export function sameIdentity(scheme: Identity, entry: Identity): boolean {
  return scheme.every((member) => agrees(member, entry))
}

/** True when the tuple has that member with that value. */
export function agrees(member: IdentityMember, entry: Identity): boolean {
  const isSame = ({ value, url }: IdentityMember) => (url === 'below' ? member.value.startsWith(value) : member.value === value)
  return entry.some((own) => own.name === member.name && isSame(own))
}
