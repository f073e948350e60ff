/** A media type without its parameters, in lower case (RFC 9110 §8.3.1); empty for none. */
export function mediaType(text: string | null | undefined): string {
  return (text ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}
