/** One part of a multipart body. */
export interface Part {
  readonly name: string
  /** From the content disposition, decoded. */
  readonly filename: string | undefined
  readonly contentType: string | undefined
  readonly content: Buffer
}

/**
 * Reads `multipart/form-data` (RFC 7578) and refuses what lenient readers skip.
 *
 * Throws a `SyntaxError` for a bad boundary, text before the first or after the last one, and parts without a name.
 */
export function readMultipart(contentType: string, body: Buffer): readonly Part[] {
  const boundary = boundaryOf(contentType)
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  const parts: Part[] = []
  if (body.indexOf(delimiter.subarray(2)) !== 0) throw new SyntaxError('the body does not begin with the boundary')
  let at = delimiter.length - 2
  for (;;) {
    const mark = body.toString('latin1', at, at + 2)
    if (mark === '--') break
    if (mark !== '\r\n') throw new SyntaxError('no line break behind the boundary')
    const end = body.indexOf(delimiter, at)
    if (end < 0) throw new SyntaxError('the last boundary is missing')
    parts.push(partOf(body.subarray(at + 2, end)))
    at = end + delimiter.length
  }
  const rest = body.toString('latin1', at + 2)
  if (rest !== '' && rest !== '\r\n') throw new SyntaxError('text behind the last boundary')
  return parts
}

/** RFC 2046 §5.1.1: 1 to 70 of these characters, no blank at the end. */
function boundaryOf(contentType: string): string {
  const [, quoted, plain] = /^multipart\/form-data\s*;\s*boundary=(?:"([^"]*)"|([^;\s]+))\s*$/i.exec(contentType) ?? []
  const boundary = quoted ?? plain ?? ''
  if (!/^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/.test(boundary)) throw new SyntaxError('no correct boundary')
  if (quoted === undefined && /[^\w'.+-]/.test(boundary)) throw new SyntaxError('a boundary that needs quotes')
  return boundary
}

function partOf(bytes: Buffer): Part {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) throw new SyntaxError('a part without a head')
  let disposition: string | undefined
  let contentType: string | undefined
  for (const line of bytes.toString('utf8', 0, end).split('\r\n')) {
    const [, name = '', value = ''] = /^([\w-]+):\s*(.*)$/.exec(line) ?? []
    if (name === '') throw new SyntaxError('a line in the head of a part that is no field')
    if (name.toLowerCase() === 'content-disposition') disposition = value
    else if (name.toLowerCase() === 'content-type') contentType = value
    // RFC 7578 §4.7 leaves no use for any other.
    else throw new SyntaxError(`a ${name} field in a part`)
  }
  const parameters = /^form-data; name="([^"]+)"(?:; filename="([^"]*)")?$/.exec(disposition ?? '')
  if (!parameters?.[1]) throw new SyntaxError('a part without a name')
  return {
    name: unescaped(parameters[1]),
    filename: parameters[2] && unescaped(parameters[2]),
    contentType,
    content: bytes.subarray(end + 4),
  }
}

/** Only what must be escaped is: quotes and line breaks. */
function unescaped(text: string): string {
  return text.replaceAll('%22', '"').replaceAll('%0D', '\r').replaceAll('%0A', '\n')
}
