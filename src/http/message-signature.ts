/** HTTP message signatures (RFC 9421): the texts, without the signing. */

/** A covered component: its identifier without parameters, and its value (§2). */
export type Component = readonly [name: string, value: string]

/** Parameters of a signature in the order in which they are written (§2.3): integers and texts in printable ASCII. */
export type SignatureParameters = Readonly<Record<string, string | number>>

/** What is covered and how: the member of `Signature-Input`, without its label (§4.1). */
export function signatureInput(components: readonly Component[], parameters: SignatureParameters): string {
  const covered = components.map(([name]) => quoted(name)).join(' ')
  const written = Object.entries(parameters).map(([name, value]) => `;${name}=${typeof value === 'number' ? value : quoted(value)}`)
  return `(${covered})${written.join('')}`
}

/** The text that is signed (§2.5). */
export function signatureBase(components: readonly Component[], parameters: SignatureParameters): string {
  const lines = components.map(([name, value]) => `${quoted(name)}: ${value}`)
  return [...lines, `"@signature-params": ${signatureInput(components, parameters)}`].join('\n')
}

/** A string of structured fields (RFC 8941 §4.1.6). */
function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}
