/** The text that OAuth 1.0 signs (RFC 5849 §3.4.1). */
import { type HttpRequest, percentEncoded } from '../../../http/message.ts'

/** Names and values, not encoded. */
export type Parameters = readonly (readonly [name: string, value: string])[]

type Pair = readonly [name: string, value: string]

/** Method, address, and all parameters: those of the header, of the query, and of a form in the body. */
export function baseString(request: HttpRequest, header: Parameters): string {
  const { origin, pathname, search } = new URL(request.url)
  const ours = header.map(([name, value]): Pair => [percentEncoded(name), percentEncoded(value)])
  const pairs = [...ours, ...formPairs(search.slice(1)), ...formPairs(formOf(request))]
  const sorted = pairs.sort(([name, value], other) => order(name, other[0]) || order(value, other[1]))
  const parameters = sorted.map((pair) => pair.join('=')).join('&')
  return [request.method.toUpperCase(), origin + pathname, parameters].map(percentEncoded).join('&')
}

/** The body as far as it is a form (§3.4.1.3.1); other bodies are not signed. */
function formOf({ headers, body = '' }: HttpRequest): string {
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(headers['content-type'] ?? '')) return ''
  return typeof body === 'string' ? body : new TextDecoder().decode(body)
}

function formPairs(form: string): Pair[] {
  return form.split('&').flatMap((text) => {
    const [, name = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(text) ?? []
    return text === '' ? [] : [[recoded(name), recoded(value)] as const]
  })
}

/** From one encoding to the other, byte by byte: what is no UTF-8 stays what it is. */
function recoded(text: string): string {
  return text.replace(/%([0-9A-Fa-f]{2})|\+|[^A-Za-z0-9\-._~]/gu, (part, hex?: string) => {
    if (hex === undefined) return percentEncoded(part === '+' ? ' ' : part)
    const byte = Number.parseInt(hex, 16)
    return byte < 0x80 ? percentEncoded(String.fromCharCode(byte)) : `%${hex.toUpperCase()}`
  })
}

/** Encoded texts are US-ASCII: their bytes compare as their characters do. */
function order(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}
