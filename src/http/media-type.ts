/** A media type without its parameters, in lower case (RFC 9110 §8.3.1); empty for none. */
export function mediaType(text: string | null | undefined): string {
  return (text ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

/**
 * What is odd about a web page that comes instead of what was promised, which often is a login page; undefined when it is not odd.
 *
 * @param promised media type; empty where nothing was said
 */
export function pageProblem(promised: string, contentType: string | null): string | undefined {
  const actual = mediaType(contentType)
  if (actual !== 'text/html' || promised === '' || promised === actual) return undefined
  return `the answer is ${actual}, the document says ${promised}: this may be a login page`
}
