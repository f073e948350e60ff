/** Users in XML 1.0, as little of it as they need. */

/** A record whose values are text. */
export type Fields = Readonly<Record<string, string>>

/** `<users><user>…</user></users>` or one `<user>`. */
export function writeXml(value: Readonly<Record<string, unknown>> | readonly Readonly<Record<string, unknown>>[]): string {
  const body = Array.isArray(value)
    ? `<users>${value.map(userElement).join('')}</users>`
    : userElement(value as Readonly<Record<string, unknown>>)
  return `<?xml version="1.0" encoding="UTF-8"?>${body}`
}

/** The fields of one `<user>`; throws a `SyntaxError` for everything else, for document types above all. */
export function readXmlUser(text: string): Fields {
  const [, inner] = /^(?:<\?xml version="1\.0"(?: encoding="UTF-8")?\?>)?\s*<user>(.*)<\/user>\s*$/s.exec(text) ?? []
  if (inner === undefined) throw new SyntaxError('not one <user>')
  const fields: Record<string, string> = {}
  const rest = inner.replace(/\s*<([a-z_]+)>([^<]*)<\/\1>\s*/g, (_all, name: string, value: string) => {
    if (name in fields) throw new SyntaxError(`<${name}> twice`)
    fields[name] = unescaped(value)
    return ''
  })
  if (rest !== '') throw new SyntaxError(`unexpected ${JSON.stringify(rest.slice(0, 40))}`)
  return fields
}

const ENTITIES: Fields = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function userElement(user: Readonly<Record<string, unknown>>): string {
  const fields = Object.entries(user).map(([name, value]) => `<${name}>${escaped(String(value))}</${name}>`)
  return `<user>${fields.join('')}</user>`
}

function escaped(text: string): string {
  return text.replace(/[&<>\r]/g, (mark) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[mark] ?? '&#13;')
}

function unescaped(text: string): string {
  return text.replace(/&([^;&]*)(;?)/g, (all, name: string, end: string) => {
    const [, digits] = /^#(\d{1,7})$/.exec(name) ?? []
    const known = Object.hasOwn(ENTITIES, name) ? ENTITIES[name] : digits && String.fromCodePoint(Number(digits))
    const value = end === '' ? undefined : known
    if (value === undefined) throw new SyntaxError(`the entity ${all}`)
    return value
  })
}
