/**
 * Reads and writes XML for clients of services that speak it, with `saxes` (`npm install saxes`). Elements with elements in them become
 * records, `<users>` around `<user>` becomes a list, all else is text. A document type is refused, and with it every entity that is
 * not of XML itself, so that nothing is fetched or unfolded.
 *
 *     const codec = xmlCodec('user')
 *     const client = new ApiClient({ baseUrl, credential, codec })
 *     const profile = { ...JSON_REST, body: 'xml', accept: 'application/xml', codec }
 */
import { SaxesParser } from 'saxes'
import type { Codec } from 'stac-auth/clients'

type Value = string | Value[] | { readonly [name: string]: Value }

interface Element {
  readonly name: string
  readonly children: [name: string, value: Value][]
  text: string
}

/** @param root name of the element that a record is written in */
export function xmlCodec(root: string): Codec {
  return { parse: readXml, stringify: (value) => `<?xml version="1.0" encoding="UTF-8"?>${written(root, value)}` }
}

function readXml(text: string): Value {
  const parser = new SaxesParser()
  const open: Element[] = [{ name: '', children: [], text: '' }]
  parser.on('doctype', () => {
    throw new SyntaxError('a document type')
  })
  parser.on('opentag', ({ name }) => open.push({ name, children: [], text: '' }))
  const addText = (more: string) => {
    const element = open.at(-1)
    if (element) element.text += more
  }
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('closetag', () => {
    const element = open.pop()
    if (element) open.at(-1)?.children.push([element.name, readElement(element)])
  })
  parser.write(text).close()
  return open[0]?.children[0]?.[1] ?? ''
}

function readElement({ name, children, text }: Element): Value {
  if (children.length === 0) return text
  return children.every(([child]) => `${child}s` === name) ? children.map(([, value]) => value) : Object.fromEntries(children)
}

function written(name: string, value: unknown): string {
  if (value === undefined) return ''
  const isRecord = typeof value === 'object' && value !== null
  const inner = isRecord
    ? Object.entries(value)
        .map(([field, member]) => written(field, member))
        .join('')
    : escaped(String(value ?? ''))
  return `<${name}>${inner}</${name}>`
}

function escaped(text: string): string {
  return text.replace(/[&<>\r]/g, (mark) => `&#${mark.charCodeAt(0)};`)
}
