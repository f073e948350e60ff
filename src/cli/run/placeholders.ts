/**
 * Substitutes placeholders such as `{B04}` in the arguments of a program with URLs of the gateway. These consist of letters, digits and
 * `._-/:`, so that no text of a document has a meaning in a script.
 */
import { basename } from 'node:path'
import { AuthError, ConfigurationError } from '../../errors.ts'
import type { Gateway, GatewayTarget } from '../../node/gateway/index.ts'

/** The values of placeholders. */
export interface Placeholders {
  readonly targets: readonly Pick<GatewayTarget, 'document' | 'key' | 'url'>[]
  readonly refused: Gateway['refused']
  /** URL of the gateway for the first document; undefined for a document that has no URL. */
  readonly catalog: string | undefined
}

/** A URL as it is, or as the file name of GDAL (`/vsicurl/`). */
type Form = 'url' | 'vsi'

/**
 * What QGIS changes in its arguments, because it takes them for paths: `http://` becomes `http:/`. It is escaped, and so is what has a meaning
 * after `/vsicurl?`.
 */
const CHANGED_BY_QGIS = /[%&+#]|\/(?=[/.]|$)/g

/** `%{…}` and `${…}` are of curl and of shells; braces in braces stand for themselves. */
const BRACES = /(?<![%$])(?:\{\{([^{}]*)\}\}|\{([^{}]+)\})/g

/** The form of a key. Other text in braces, such as JSON and awk programs, is not a placeholder. */
const WORD = /^[\w.:/@+~-]+$/

/** More names than these are no help. */
const MAX_NAMES = 20

/**
 * Returns the program and its arguments with `{KEY}`, `{ID/KEY}`, `{url:KEY}`, `{vsi:KEY}` and `{catalog}` substituted. `{KEY}` has the form
 * that the program reads: the file name of GDAL behind `gdal*`, `ogr*`, `rio` and `qgis*`, else the URL. `{{KEY}}` stands for `{KEY}`.
 *
 * Errors: `TARGET_NOT_FOUND` for an unknown or ambiguous placeholder, with those that exist; the code of the refusal for a target whose URL
 * cannot be used.
 */
export function substitute(words: readonly string[], placeholders: Placeholders): readonly string[] {
  return words.map((argument, at) => {
    if (at === 0) return argument
    return argument.replace(BRACES, (braces: string, literal: string | undefined, name = '') => {
      if (literal !== undefined) return `{${literal}}`
      return textFor(name, placeholders, words.slice(0, at)) ?? (WORD.test(name) ? refuse(name, placeholders) : braces)
    })
  })
}

/** A program of GDAL, of rasterio or of QGIS, also as a script of Python. */
const OF_GDAL = /^(?:gdal[\w-]*|ogr\w+|nearblack|rio|qgis[\w.-]*)(?:\.py)?$/i

/** Returns the URL or file name for a placeholder. The program that reads it may stand behind others, such as `env` and `python3`. */
function textFor(name: string, placeholders: Placeholders, before: readonly string[]): string | undefined {
  const program = before.map(programName).findLast((word) => OF_GDAL.test(word))
  const isQgis = program !== undefined && /^qgis(?!_process)/i.test(program)
  const fileName = (url: string) => (isQgis ? `/vsicurl?url=${url.replace(CHANGED_BY_QGIS, encodeURIComponent)}` : `/vsicurl/${url}`)
  const formed = (url: string | undefined, shape: Form) => (url !== undefined && shape === 'vsi' ? fileName(url) : url)
  const whole = name === 'catalog' ? placeholders.catalog : formed(targetUrl(name, placeholders), program === undefined ? 'url' : 'vsi')
  const [, form, key = ''] = /^(url|vsi):(.+)$/s.exec(name) ?? []
  if (form === undefined) return whole
  const other = formed(targetUrl(key, placeholders) ?? (key === 'catalog' ? placeholders.catalog : undefined), form as Form)
  if (whole === undefined || other === undefined) return whole ?? other
  throw new ConfigurationError('TARGET_NOT_FOUND', `{${name}} is ambiguous: it is the key of a target, and a form of {${key}}`, {
    hint: `use {${form}:${name}}, or {${key}} in another form`,
  })
}

/** Returns the URL of the target of that key, or of `ID/KEY`. Errors: `TARGET_NOT_FOUND` for a key that several documents have. */
function targetUrl(name: string, { targets }: Placeholders): string | undefined {
  // A document chooses its keys: one like `ID/KEY` must not take the place of the target of another document.
  const found = targets.filter((target) => target.key === name || qualified(target) === name)
  if (found.length < 2) return found[0]?.url
  const names = found.map((target) => `{${qualified(target)}}`)
  const isNameable = names.every((one) => one !== `{${name}}`)
  throw new ConfigurationError('TARGET_NOT_FOUND', `{${name}} is ambiguous: ${found.length} documents have a target "${name}"`, {
    hint: isNameable ? `use one of: ${listOf(names)}` : 'give the documents one at a time, or read the URLs from STAC_AUTH_GATEWAY_MAP',
  })
}

function spelling(name: string): string {
  return name.toLowerCase().replace(/[-_. ]/g, '')
}

function qualified({ document, key }: { readonly document: string; readonly key: string }): string {
  return `${document}/${key}`
}

function refuse(name: string, { targets, refused, catalog }: Placeholders): never {
  const plain = name.replace(/^(?:url|vsi):/, '')
  const found = refused.find((target) => [target.key, qualified(target)].some((one) => one === name || one === plain))
  if (found) {
    const { code, message, hint } = found
    throw new AuthError(code, `{${name}} cannot be used: ${message}`, hint === undefined ? {} : { hint })
  }
  if (name === 'catalog' && catalog === undefined) {
    const message = 'there is no URL for {catalog}: the first document is a file without a "self" link, or none is given'
    throw new ConfigurationError('TARGET_NOT_FOUND', message, { hint: 'give the document by its URL' })
  }
  const isAlone = (key: string) => targets.filter((other) => other.key === key).length === 1
  const names = targets.map((target) => (isAlone(target.key) ? target.key : qualified(target)))
  // Another spelling only: the data of a similar key would be other data.
  const meant = names.find((one) => spelling(one) === spelling(plain))
  const lines = [
    ...(meant === undefined ? [] : [`did you mean {${meant}}?`]),
    `the targets are: ${listOf(names) || 'none; name a document before --'}`,
    `write {{${name}}} for {${name}} itself`,
  ]
  throw new ConfigurationError('TARGET_NOT_FOUND', `unknown placeholder {${name}}`, { hint: lines.join('\n') })
}

function listOf(names: readonly string[]): string {
  const unique = [...new Set(names)]
  return unique.slice(0, MAX_NAMES).join(', ') + (unique.length > MAX_NAMES ? `, … (${unique.length} in all)` : '')
}

/** Returns the name of a program without its folder and the ending of Windows. */
function programName(word: string): string {
  return basename(word.replaceAll('\\', '/')).replace(/\.(?:exe|com|bat|cmd)$/i, '')
}
