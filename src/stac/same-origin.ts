/**
 * True for two addresses with the same scheme, host and port, also where the platform only gives an opaque origin, as for `s3:`;
 * an address that is none is like no other.
 *
 * @param base address of the document that both stand in, for relative ones
 */
export function sameOrigin(one: string, other: string, base?: string): boolean {
  if (!URL.canParse(one, base) || !URL.canParse(other, base)) return false
  const [first, second] = [new URL(one, base), new URL(other, base)]
  return first.protocol === second.protocol && first.host === second.host
}
