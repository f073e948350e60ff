/** Text of a catalog inside a question: it must not look like a part of the question. */
import { domainToASCII, domainToUnicode } from 'node:url'

/** What is invisible, moves or stacks: all but letters, digits, signs and single blanks. */
const ODD = /[\p{C}\p{M}]|(?! )[\p{Z}]| (?= )/gu

/** On one line, in quotes, with everything odd written out, and no longer than `length` characters. */
export function quoted(text: string, length = 60): string {
  return `"${plain(text, length).replace(/["\\](?!u\{)/g, '\\$&')}"`
}

/** The same without the quotes. */
export function plain(text: string, length = 60): string {
  const characters = [...text.normalize('NFC').slice(0, 4 * length)]
  const cut = characters.length > length || text.length > 4 * length
  const shown = characters.slice(0, cut ? length - 1 : length).join('')
  return shown.replace(ODD, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`) + (cut ? '…' : '')
}

/** An address or pattern with its host in ASCII, and the Unicode form behind it where that differs. */
export function addressText(address: string): string {
  const probe = address.replace('://*.', '://')
  const host = URL.canParse(probe) ? new URL(probe).hostname : ''
  const unicode = domainToUnicode(host)
  const [, before = '', written = ''] = /^(.*?:\/\/(?:\*\.)?)([^/?#:@[]+)/s.exec(address) ?? []
  const isWritten = host !== '' && domainToASCII(written) === host
  const shown = isWritten ? `${before}${host}${address.slice(before.length + written.length)}` : address
  return `${plain(shown, 500)}${unicode === '' || unicode === host ? '' : ` (${plain(unicode, 253)})`}`
}
