import { utf8Length } from './utf8-length.ts'

/** Maximum length in UTF-8 bytes; file systems allow 255, and names of partial files are longer. */
const LONGEST = 200

/** Characters that file systems or shells refuse, or that hide the real name: C0, DEL, C1, bidirectional controls. */
const UNSAFE = /[/\\:*?"<>|\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|clock\$|(?:com|lpt)[0-9¹²³])[ ]*(?:\.|$)/i
/** Extensions of partial downloads and of the files beside them. */
const OURS = /\.part(?:\.(?:json|lock))?$/i

/**
 * Returns a path segment that every file system accepts, from any text: at most 200 bytes in NFC, without Windows device names, hidden
 * files and names that look like command options; `asset` when nothing remains.
 */
export function forFileName(text: string): string {
  // Shortened first: what remains may be a name of ours, or of a device.
  const clean = shortened(trimmed(text.toWellFormed().normalize('NFC').replace(UNSAFE, '_')))
  const safe = shortened(DEVICE.test(clean) ? `_${clean}` : clean)
  const name = shortened(OURS.test(safe) ? `${safe}_` : safe)
  return name === '' ? 'asset' : name
}

/** Returns a key that is equal for names that some file systems treat as one file. */
export function foldedName(name: string): string {
  return name.normalize('NFC').toLowerCase()
}

/** Returns the name with `~2` and so on before its extension. */
export function numberedName(name: string, number: number): string {
  const { stem, extension } = partsOfName(name)
  const ending = `~${number}${extension}`
  return cut(stem, LONGEST - utf8Length(ending)) + ending
}

/** Splits a name: the extension starts with its last dot and has at most 16 characters; otherwise it is empty. */
export function partsOfName(name: string): { readonly stem: string; readonly extension: string } {
  const extension = /(?<=.)\.[^.]{1,15}$/u.exec(name)?.[0] ?? ''
  return { stem: name.slice(0, name.length - extension.length), extension }
}

/** Compressed files have a second extension: `.tar.gz`. */
const COMPRESSED = /^\.(?:gz|bz2|xz|zst)$/i
/** Extensions of our own files, and of files that systems execute, open with another program or read settings from. */
const REFUSED =
  /^\.(?:part|app|apk|bat|bin|chm|cmd|com|command|cpl|deb|desktop|dll|dmg|exe|gadget|hta|inf|ins|jar|js|jse|lnk|msc|msi|msp|pif|pkg|ps1|reg|rpm|run|scf|scr|sct|sh|shb|sys|url|vbe|vbs|webloc|ws|wsc|wsf|wsh)$/i

/**
 * Returns the extension of a name that a server proposes, if it is safe: a dot, letters and digits, at most 16 characters; for a
 * compressed file also the extension before it. Empty for none, for numbers and for executable files.
 */
export function plainSuffix(name: string): string {
  const [, inner = '', last = ''] = /[^./\\](\.[a-z][a-z0-9]{0,9})?(\.[a-z0-9]{1,15})$/i.exec(name.slice(-64)) ?? []
  if (!/[a-z]/i.test(last) || REFUSED.test(last)) return ''
  const suffix = COMPRESSED.test(last) && !REFUSED.test(inner) ? inner + last : last
  return suffix.length <= 16 ? suffix : ''
}

function trimmed(text: string): string {
  return text.replace(/^[. \-~]+/, '').replace(/(?<![. ])[. ]+$/, '')
}

function shortened(name: string): string {
  if (utf8Length(name) <= LONGEST) return name
  const { stem, extension } = partsOfName(name)
  return trimmed(cut(stem, LONGEST - utf8Length(extension))) + extension
}

/** Returns as many whole characters from the start as fit. */
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

/** Returns the last segment of the path of a URL, decoded once (RFC 3986 §2.4), as a safe name. */
export function nameInAddress(href: string): string {
  const path = href.replace(/[?#].*/s, '').replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '')
  return forFileName(decoded(path.slice(path.lastIndexOf('/') + 1)))
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
