/** Substitutes placeholders such as `{B04}` in the arguments of a program with URLs of the gateway. */
import { basename } from 'node:path'
import { ConfigurationError } from '../../errors.ts'
import { nearMiss } from '../../text/suggest.ts'
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

/** The values of placeholders. */
export interface Placeholders {
  readonly targets: readonly NamedTarget[]
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

/** Literal text beside a placeholder that is no program: of an option such as `--url={B04}`, or of a file name such as `NETCDF:{B04}:t2m`. */
const PLAIN_TEXT = /^[\w./:=,@+~%-]*$/

/** A URL without characters that end a string or start a command in a shell, in SQL, Python, R or awk. */
const PLAIN_URL = /^[\w./:=,@+~%?[\]-]*$/

/** Programs that join their arguments to a command line and read that as a script. */
const JOINS = /(?:^|[\\/])(?:cmd|parallel|powershell|pwsh|ssh|watch|wsl)(?:\.exe)?$/i

/** It also puts the values of variables in the place of their names between two percent signs. */
const PERCENT_JOINS = /(?:^|[\\/])cmd(?:\.exe)?$/i

/** More names than these are no help. */
const MAX_NAMES = 20

/**
 * Returns the program and its arguments with `{KEY}`, `{ID/KEY}`, `{url:KEY}`, `{vsi:KEY}` and `{catalog}` substituted. `{KEY}` has the form
 * that the program reads: the file name of GDAL for `gdal*`, `ogr*`, `rio` and `qgis*`, else the URL. `{{KEY}}` stands for `{KEY}`.
 *
 * Errors: `TARGET_NOT_FOUND` for an unknown or ambiguous placeholder, with those that exist; `USAGE` where the text of a URL, which the author
 * of the document chose, could become a part of a script.
 */
export function substitute([program = '', ...args]: readonly string[], placeholders: Placeholders): readonly string[] {
  const naming = namingOf(basename(program))
  const put = (braces: string, literal: string | undefined, name = ''): string => {
    if (literal !== undefined) return `{${literal}}`
    return textFor(name, placeholders, naming) ?? (WORD.test(name) ? refuse(name, placeholders) : braces)
  }
  // It may stand behind another program, such as `env`.
  const joining = [program, ...args].find((word) => JOINS.test(word))
  const hasPercent = [program, ...args].some((word) => PERCENT_JOINS.test(word))
  const filled = (argument: string) => {
    const isScript = joining !== undefined || !PLAIN_TEXT.test(argument.replace(BRACES, ''))
    return argument.replace(BRACES, (braces: string, literal: string | undefined, name: string | undefined) => {
      const text = put(braces, literal, name)
      const isPlain = PLAIN_URL.test(text) && !(hasPercent && text.includes('%'))
      if (isScript && literal === undefined && text !== braces && !isPlain) throw unsafe(braces, joining)
      return text
    })
  }
  return [program, ...args.map(filled)]
}

function unsafe(braces: string, joining: string | undefined): ConfigurationError {
  if (joining !== undefined) {
    return usageError(
      `${braces} cannot stand behind "${joining}", which reads its arguments as a script: its URL has characters that could be read as commands`,
      'start the program itself, or let it read the URLs from the file in STAC_AUTH_GATEWAY_MAP',
    )
  }
  return usageError(
    `${braces} cannot stand inside a script: its URL has characters that could be read as commands`,
    `give it as an argument of its own, for example: sh -c 'gdalinfo "$1"' sh ${braces}`,
  )
}

function namingOf(program: string): Naming {
  if (/^qgis(?!_process)/i.test(program))
    return { usual: 'vsi', fileName: (url) => `/vsicurl?url=${url.replace(CHANGED_BY_QGIS, encodeURIComponent)}` }
  return { usual: /^(?:gdal|ogr|qgis|rio(?:\.|$))/i.test(program) ? 'vsi' : 'url', fileName: (url) => `/vsicurl/${url}` }
}

function textFor(name: string, placeholders: Placeholders, { usual, fileName }: Naming): string | undefined {
  const formed = (url: string | undefined, form: Form) => (url !== undefined && form === 'vsi' ? fileName(url) : url)
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

function qualified({ document, key }: NamedTarget): string {
  return `${document}/${key}`
}

function refuse(name: string, { targets, catalog }: Placeholders): never {
  if (name === 'catalog' && catalog === undefined) {
    const message = 'there is no URL for {catalog}: the first document is a file without a "self" link, or none is given'
    throw new ConfigurationError('TARGET_NOT_FOUND', message, { hint: 'give the document by its URL' })
  }
  const keys = targets.map(({ key }) => key)
  const names = keys.map((key, index) => (keys.indexOf(key) === keys.lastIndexOf(key) ? key : qualified(targets[index] as NamedTarget)))
  const meant = nearMiss(name.replace(/^(?:url|vsi):/, ''), names)
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
