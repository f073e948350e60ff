/**
 * Substitutes placeholders such as `{B04}` in the arguments of a program with URLs of the gateway. The text of a document must not stand in
 * an argument that a program reads as a script.
 */
import { basename } from 'node:path'
import { AuthError, ConfigurationError, type ErrorCode } from '../../errors.ts'
import { usageError } from '../exit-code.ts'

/** A target that the gateway serves. */
export interface NamedTarget {
  /** Id of the document, or its name where it has none. */
  readonly document: string
  /** Key of an asset, or `KEY/NAME` of an alternate. */
  readonly key: string
  /** URL of the gateway. */
  readonly url: string
}

/** A target that the gateway does not serve, because its URL cannot be used. */
export interface RefusedTarget {
  readonly document: string
  readonly key: string
  readonly code: ErrorCode
  readonly message: string
  readonly hint?: string
}

/** The values of placeholders. */
export interface Placeholders {
  readonly targets: readonly NamedTarget[]
  readonly refused: readonly RefusedTarget[]
  /** URL of the gateway for the first document; undefined for a document that has no URL. */
  readonly catalog: string | undefined
}

/** A URL as it is, or as the file name of GDAL (`/vsicurl/`). */
type Form = 'url' | 'vsi'

/** How a program names files on servers. */
interface Naming {
  /** The form of a placeholder that names none. */
  readonly usual: Form
  /** The file name of GDAL for a URL. */
  fileName(url: string): string
}

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
 * cannot be used; `USAGE` inside an argument that a program reads as a script.
 */
export function substitute(words: readonly string[], placeholders: Placeholders): readonly string[] {
  return words.map((argument, at) => {
    if (at === 0) return argument
    const naming = namingOf(words.slice(0, at))
    const reader = readerOf(words, at, argument.replace(BRACES, ''))
    return argument.replace(BRACES, (braces: string, literal: string | undefined, name = '') => {
      if (literal !== undefined) return `{${literal}}`
      const text = textFor(name, placeholders, naming) ?? (WORD.test(name) ? refuse(name, placeholders) : undefined)
      if (text !== undefined && reader !== undefined) throw inScript(braces, reader)
      return text ?? braces
    })
  })
}

function inScript(braces: string, reader: string): ConfigurationError {
  const example = /make/.test(reader)
    ? `pass it in the environment, and write "$$URL" in the recipe: env URL=${braces} ${reader}`
    : `give it as an argument of its own, for example: sh -c 'gdalinfo "$1"' sh ${braces}`
  return usageError(`${braces} cannot stand in a script: "${programName(reader)}" would run what the URL says as commands`, example)
}

/** A program of GDAL, of rasterio or of QGIS, also as a script of Python. */
const OF_GDAL = /^(?:gdal[\w-]*|ogr\w+|nearblack|rio|qgis[\w.-]*)(?:\.py)?$/i

/** Returns how the program names files. It may stand behind others, such as `env`, `timeout`, `conda run` and `python3`. */
function namingOf(words: readonly string[]): Naming {
  const program = words.map(programName).findLast((name) => OF_GDAL.test(name))
  if (program === undefined) return { usual: 'url', fileName: (url) => `/vsicurl/${url}` }
  if (/^qgis(?!_process)/i.test(program))
    return { usual: 'vsi', fileName: (url) => `/vsicurl?url=${url.replace(CHANGED_BY_QGIS, encodeURIComponent)}` }
  return { usual: 'vsi', fileName: (url) => `/vsicurl/${url}` }
}

function textFor(name: string, placeholders: Placeholders, { usual, fileName }: Naming): string | undefined {
  const formed = (url: string | undefined, shape: Form) => (url !== undefined && shape === 'vsi' ? fileName(url) : url)
  const whole = name === 'catalog' ? placeholders.catalog : formed(targetUrl(name, placeholders), usual)
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
  const keys = targets.map(({ key }) => key)
  const names = keys.map((key, index) => (keys.indexOf(key) === keys.lastIndexOf(key) ? key : qualified(targets[index] as NamedTarget)))
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

/** How a program gets its script. */
interface Interpreter {
  readonly name: RegExp
  /** Options before the script; undefined where the first argument that is not an option is the script. */
  readonly option?: RegExp
  /** Options whose next argument is a value. */
  readonly valued?: RegExp
  /** Options that name a file with the script. */
  readonly file?: RegExp
  /** The arguments behind the script are parts of it. */
  readonly joins?: boolean
}

const INTERPRETERS: readonly Interpreter[] = [
  {
    name: /^(?:(?:ba|da|k|mk|pdk|z|fi|a|c|tc)?sh|busybox)$/,
    option: /^[-+][a-z]*c[a-z]*$|^--command(?:=|$)/i,
    valued: /^[-+][oO]$|^--(?:rc|init-)file$/,
  },
  { name: /^(?:python|pypy)[\d.]*w?$/, option: /^-[a-zA-Z]*c/, valued: /^-[WX]$/ },
  { name: /^(?:perl|ruby)[\d.]*$/, option: /^-[a-zA-Z0-9]*[eE]/, valued: /^-[IMr]$/ },
  {
    name: /^(?:node|nodejs|bun|deno|tsx)$/,
    option: /^-(?:e|p|pe)$|^--(?:eval|print)(?:=|$)|^eval$/,
    valued: /^-[rC]$|^--(?:require|import)$/,
  },
  { name: /^(?:php[\d.]*|lua[\d.]*|luajit|r|rscript|julia|osascript|tclsh|guile)$/i, option: /^-[reEBRcp]|^--(?:eval|run)(?:=|$)/ },
  { name: /^env$/, option: /^-[a-zA-Z]*S|^--split-string(?:=|$)/, valued: /^-[uC]$/ },
  { name: /^(?:[gmn]?awk|g?sed|jq|eval)$/, valued: /^-[vF]$/, file: /^-f$|^--(?:from-)?file(?:=|$)/ },
  { name: /^(?:cmd|powershell|pwsh|parallel|ssh|watch|wsl)$/i, valued: /^-[npiolFjd]$/, joins: true },
  { name: /^[gbpn]?make$|^(?:ninja|just)$/, joins: true },
]

/** These read every argument. */
const READS_ALL = /^[gbpn]?make$|^(?:ninja|just)$/

/** Text beside a placeholder that no shell reads as anything but text. */
const PLAIN_TEXT = /^[\w./:=,@+-]*$/

/**
 * Returns the program that reads the argument at that position as a script, or as a part of one; undefined for an argument that is only
 * text. Interpreters are found wherever they stand, such as behind `env`, `timeout`, `xargs` and `find -exec`.
 *
 * @param literal the text of the argument without its placeholders
 */
function readerOf(words: readonly string[], at: number, literal: string): string | undefined {
  return words.slice(0, at).find((word, index) => {
    const name = programName(word)
    const interpreter = INTERPRETERS.find((one) => one.name.test(name))
    return interpreter !== undefined && isScript(interpreter, name, words.slice(index + 1, at + 1), literal)
  })
}

/** Returns the name of a program without its folder and the ending of Windows. */
function programName(word: string): string {
  return basename(word.replaceAll('\\', '/')).replace(/\.(?:exe|com|bat|cmd)$/i, '')
}

/** True if the last of these arguments of an interpreter is its script. */
function isScript({ option, valued, file, joins = false }: Interpreter, name: string, words: readonly string[], literal: string): boolean {
  if (READS_ALL.test(name)) return true
  const [last = ''] = words.slice(-1)
  let isNext = option === undefined
  for (let index = 0; index < words.length - 1; index++) {
    const word = words[index] as string
    if (file?.test(word)) return false
    if (option?.test(word)) isNext = true
    else if (valued?.test(word)) {
      if (++index === words.length - 1) return false
    } else if (!isOption(word)) {
      // Perl and others take several scripts.
      if (!isNext || option === undefined) return joins && !PLAIN_TEXT.test(literal)
      isNext = false
    }
  }
  // Such as `-c{B04}` and `--eval={B04}`.
  return isNext || (option?.test(last) ?? false)
}

function isOption(word: string): boolean {
  return /^[-+]|^\/[a-z]$/i.test(word)
}
