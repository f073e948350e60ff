/**
 * Reads single elements of XML documents of object stores without a parser. Callers refuse documents with constructs that parsers may read
 * differently: document types, CDATA and comments, which all begin with `<!`.
 */

/** Returns the text of the first element with that name; undefined when there is none or it is empty. */
export function elementText(xml: string, name: string): string | undefined {
  const text = elementContent(xml, name) ?? ''
  return text === '' || text.includes('<') ? undefined : text.replace(ENTITY, character)
}

/** Returns what is between the tags of the first element with that name, as it is written. */
export function elementContent(xml: string, name: string): string | undefined {
  const open = `<${name}>`
  const start = xml.indexOf(open)
  const end = start < 0 ? -1 : xml.indexOf(`</${name}>`, start)
  return end < 0 ? undefined : xml.slice(start + open.length, end)
}

const ENTITY = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos));/gi

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function character(whole: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return NAMED[name] ?? whole
  const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
  return code <= 0x10ffff ? String.fromCodePoint(code) : whole
}
