/** The text of the first element of that name, undefined when there is none or it is empty. */
export function elementText(xml: string, name: string): string | undefined {
  const open = `<${name}>`
  const start = xml.indexOf(open)
  const end = start < 0 ? -1 : xml.indexOf(`</${name}>`, start)
  const text = end < 0 ? '' : xml.slice(start + open.length, end)
  return text === '' || text.includes('<') ? undefined : text.replace(ENTITY, character)
}

const ENTITY = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos));/gi
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function character(whole: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return NAMED[name] ?? whole
  const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
  return code <= 0x10ffff ? String.fromCodePoint(code) : whole
}
