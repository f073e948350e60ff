import { utf8Length } from './utf8-length.ts'

/** Bytes in UTF-8; file systems take 255, and names of partial files are longer than their own. */
const LONGEST = 200

/** What no file system or shell takes, or what would show another name than there is: C0, DEL, C1, bidirectional controls. */
const UNSAFE = /[/\\:*?"<>|\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|clock\$|(?:com|lpt)[0-9¹²³])[ ]*(?:\.|$)/i
/** Partial files of downloads, and what is beside them. */
const OURS = /\.part(?:\.(?:json|lock))?$/i

/**
 * One segment of a path that every file system takes and that leads nowhere else, from any text: at most 200 bytes in NFC, no device of
 * Windows, no hidden file, no option of a command; `asset` where nothing is left.
 */
export function forFileName(text: string): string {
  const clean = trimmed(text.toWellFormed().normalize('NFC').replace(UNSAFE, '_'))
  const own = OURS.test(clean) ? `${clean}_` : clean
  const name = shortened(DEVICE.test(own) ? `_${own}` : own)
  return name === '' ? 'asset' : name
}

/** The key under which two names are one file on some file systems. */
export function foldedName(name: string): string {
  return name.normalize('NFC').toLowerCase()
}

/** The name with `~2` and so on before its extension. */
export function numberedName(name: string, number: number): string {
  const { stem, extension } = partsOfName(name)
  const ending = `~${number}${extension}`
  return cut(stem, LONGEST - utf8Length(ending)) + ending
}

/** A name in two: the extension begins with its last dot, and is empty where there is none of at most 16 characters. */
export function partsOfName(name: string): { readonly stem: string; readonly extension: string } {
  const extension = /(?<=.)\.[^.]{1,15}$/u.exec(name)?.[0] ?? ''
  return { stem: name.slice(0, name.length - extension.length), extension }
}

/** Compressed files say what they are before: `.tar.gz`. */
const COMPRESSED = /^\.(?:gz|bz2|xz|zst)$/i
/** What marks files of ours, and what systems run, open elsewhere or take settings from. */
const REFUSED =
  /^\.(?:part|app|apk|bat|bin|chm|cmd|com|command|cpl|deb|desktop|dll|dmg|exe|gadget|hta|inf|ins|jar|js|jse|lnk|msc|msi|msp|pif|pkg|ps1|reg|rpm|run|scf|scr|sct|sh|shb|sys|url|vbe|vbs|webloc|ws|wsc|wsf|wsh)$/i

/**
 * The extension of a name that a server proposes, as far as it can be taken: a dot, letters and digits, at most 16 in all; of a compressed
 * file the one before it too. Empty for none, for numbers, and for what is a program.
 */
export function plainSuffix(name: string): string {
  const [, inner = '', last = ''] = /[^./\\](\.[a-z][a-z0-9]{0,9})?(\.[a-z0-9]{1,15})$/i.exec(name.slice(-64)) ?? []
  if (!/[a-z]/i.test(last) || REFUSED.test(last)) return ''
  const suffix = COMPRESSED.test(last) && !REFUSED.test(inner) ? inner + last : last
  return suffix.length <= 16 ? suffix : ''
}

function trimmed(text: string): string {
  return text.replace(/^[. \-~]+/, '').replace(/[. ]+$/, '')
}

function shortened(name: string): string {
  if (utf8Length(name) <= LONGEST) return name
  const { stem, extension } = partsOfName(name)
  return trimmed(cut(stem, LONGEST - utf8Length(extension))) + extension
}

/** As many whole characters from the beginning as have room. */
function cut(text: string, bytes: number): string {
  let length = 0
  let kept = ''
  for (const char of text) {
    length += utf8Length(char)
    if (length > bytes) break
    kept += char
  }
  return kept
}
