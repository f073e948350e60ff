/** Completions of the last word of a command line: commands, options, their values, asset keys of local documents and credential ids. */
import { readFile, stat } from 'node:fs/promises'
import type { Argument, Command, Option } from 'commander'
import { isObject, own, ownString } from '../../stac/document.ts'
import { forLine } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'

export interface Candidate {
  readonly value: string
  /** One line, maybe empty. */
  readonly description: string
}

/** Larger documents are not read while somebody types. */
const MOST_BYTES = 20_000_000

/**
 * Returns the candidates for the last of the words after the program's name; none where a file name may stand. Uses no network. A candidate
 * that would not be printed as it is, such as an asset key with a line feed, is left out.
 */
export async function candidatesFor(program: Command, words: readonly string[], context: Context): Promise<readonly Candidate[]> {
  const current = words.at(-1) ?? ''
  const line = parsed(program, words.slice(0, -1))
  const all = await possible(line, current, context)
  return all.filter(({ value }) => value.startsWith(current) && value !== '' && forLine(value) === value && !/[\t\u2028]/.test(value))
}

/** A command line up to the word that is completed. */
interface Line {
  readonly command: Command
  readonly positionals: readonly string[]
  /** Values of options by long name. */
  readonly given: ReadonlyMap<string, string>
  /** The option whose value is completed. */
  readonly pending: Option | undefined
  /** True after `--`. */
  readonly ended: boolean
}

function parsed(program: Command, words: readonly string[]): Line {
  let command = program
  let pending: Option | undefined
  let ended = false
  const positionals: string[] = []
  const given = new Map<string, string>()
  for (const word of words) {
    if (pending) {
      given.set(pending.long ?? '', word)
      pending = undefined
    } else if (!ended && word === '--') ended = true
    else if (!ended && word.startsWith('-')) {
      const [, name = word, value] = /^(--[^=]+)=(.*)$/s.exec(word) ?? []
      const option = optionNamed(command, name)
      given.set(option?.long ?? name, value ?? '')
      if (option?.required && value === undefined) pending = option
    } else {
      const below = positionals.length === 0 ? command.commands.find((known) => known.name() === word) : undefined
      if (below) command = below
      else positionals.push(word)
    }
  }
  return { command, positionals, given, pending, ended }
}

function optionNamed(command: Command, name: string): Option | undefined {
  return shownOptions(command).find(({ long, short }) => name === long || name === short)
}

/** The options in the help text of a command, with those that a command above it parses. */
function shownOptions(command: Command): readonly Option[] {
  const help = command.createHelp()
  return [...help.visibleOptions(command), ...(help.showGlobalOptions ? help.visibleGlobalOptions(command) : [])]
}

async function possible(line: Line, current: string, context: Context): Promise<readonly Candidate[]> {
  const { command, positionals, pending, ended } = line
  if (pending) return valuesOf(pending, line)
  const [, name, sign] = /^(--[^=]+)(=)/.exec(current) ?? []
  const option = name === undefined || ended ? undefined : optionNamed(command, name)
  if (option && sign !== undefined) {
    const values = await valuesOf(option, line)
    return values.map(({ value, description }) => ({ value: `${name}=${value}`, description }))
  }
  if (current.startsWith('-') && !ended) return optionsOf(line)
  const commands = positionals.length === 0 ? commandsOf(command) : []
  const declared = command.registeredArguments
  const argument = declared[positionals.length] ?? (declared.at(-1)?.variadic ? declared.at(-1) : undefined)
  return [...commands, ...(argument ? await argumentValues(argument, line, context) : [])]
}

function commandsOf(command: Command): readonly Candidate[] {
  const visible = command.createHelp().visibleCommands(command)
  return visible.map((known) => ({ value: known.name(), description: known.description() }))
}

function optionsOf({ command, given }: Line): readonly Candidate[] {
  return shownOptions(command).flatMap(({ long, description }) => {
    const isOver = long === undefined || (given.has(long) && !description.endsWith('(repeatable)'))
    return isOver ? [] : [{ value: long, description }]
  })
}

async function valuesOf(option: Option, line: Line): Promise<readonly Candidate[]> {
  if (option.argChoices) return plain(option.argChoices)
  if (option.long === '--rule') return ruleNames('=')
  if (option.long === '--format') return plain((await import('../../lint/reporters/report.ts')).FORMATS)
  if (option.long === '--asset') return (await assetsOf(line)).map(([key, asset]) => ({ value: key, description: described(asset) }))
  if (option.long === '--alternate')
    return plain(
      (await assetsOf(line)).flatMap(([key, asset]) => Object.keys(own(asset, 'alternate') ?? {}).map((name) => `${key}/${name}`)),
    )
  if (option.long !== '--link') return []
  const links = (await documentsOf(line)).flatMap((document) => own(document, 'links') ?? [])
  return plain([...new Set(links.flatMap((link) => ownString(link, 'rel') ?? []))])
}

async function argumentValues(argument: Argument, line: Line, context: Context): Promise<readonly Candidate[]> {
  if (argument.argChoices) return plain(argument.argChoices)
  const command = line.command.name()
  const isId = argument.name() === 'id'
  if (/credential/.test(argument.name()) || (isId && line.command.parent?.name() === 'credentials')) return credentialIds(line, context)
  if (command === 'rules' && isId) return ruleNames('')
  if (command !== 'providers') return []
  const { providers } = await import('../../providers/registry.ts')
  return providers.map(({ id, title }) => ({ value: id, description: title }))
}

async function ruleNames(ending: string): Promise<readonly Candidate[]> {
  const { rules } = await import('../../lint/index.ts')
  return plain(rules.flatMap(({ meta, cases }) => [...new Set([meta.id, ...cases.map((one) => one.meta.code)])].map((id) => id + ending)))
}

/** The ids in the credential file; no secret is read, and a malformed file has none. */
async function credentialIds({ given }: Line, { io }: Context): Promise<readonly Candidate[]> {
  const { credentialPath, defined } = await import('../options.ts')
  try {
    const { path } = await credentialPath(defined({ credentials: given.get('--credentials') }), io)
    const list = own(await jsonFile(path), 'credentials')
    const ids = Array.isArray(list) ? list.filter((one) => ownString(one, 'id') !== undefined) : []
    return ids.map((one) => ({ value: ownString(one, 'id') ?? '', description: ownString(one, 'type') ?? '' }))
  } catch {
    return []
  }
}

/** The assets of the local files by key. */
async function assetsOf(line: Line): Promise<readonly (readonly [key: string, asset: unknown])[]> {
  const documents = await documentsOf(line)
  const items = documents.flatMap((document) => [document, ...[own(document, 'features') ?? []].flat()])
  return Object.entries(Object.assign({}, ...items.map((item) => own(item, 'assets')).filter(isObject)))
}

function described(asset: unknown): string {
  return forLine(ownString(asset, 'type') ?? '')
}

/** The local files among the arguments. */
async function documentsOf({ positionals }: Line): Promise<readonly unknown[]> {
  const read = positionals.slice(0, 20).map((name) => jsonFile(name).catch(() => undefined))
  return (await Promise.all(read)).filter((document) => document !== undefined)
}

async function jsonFile(name: string): Promise<unknown> {
  const stats = await stat(name)
  return stats.isFile() && stats.size <= MOST_BYTES ? JSON.parse(await readFile(name, 'utf8')) : undefined
}

function plain(values: readonly string[]): readonly Candidate[] {
  return values.map((value) => ({ value, description: '' }))
}
