import type { Command } from 'commander'
import type { Auth, Explanation, RefExplanation } from '../../auth/auth.ts'
import { isUnusable } from '../../auth/requirement.ts'
import type { Warning } from '../../auth/strategy.ts'
import { type ErrorCode, isAuthError } from '../../errors.ts'
import { plural } from '../../lint/reporters/report.ts'
import { kindOf } from '../../stac/document.ts'
import type { Target } from '../../stac/target.ts'
import { forJson, forLine, forUrl, headline, hintLines } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { EXIT, exitCodeOf, worstExit } from '../exit-code.ts'
import { type Style, styleOf, write } from '../io.ts'
import type { DescribedTarget, RecognizedTarget } from '../known-providers.ts'
import { openAuth } from '../open-auth.ts'
import { chosenTarget, defined, isChosen, type TargetRequestOptions, withTargetRequestOptions } from '../options.ts'
import { type ReadDocument, readDocument } from '../read-document.ts'
import { namingDocument, setupCommand } from '../setup-hint.ts'

interface ExplainOptions extends TargetRequestOptions {
  readonly json?: boolean
  readonly all?: boolean
}

/** `explain DOC`: shows the scheme of each reference, the credential that would be used, and why others are rejected. */
export function addExplain(program: Command, context: Context): void {
  const command = program.command('explain <document>').description('show which credential each reference would use, or why it has none')
  withTargetRequestOptions(command)
    .option('--all', 'print each target, also where many have the same reason')
    .option('--json', 'print JSON')
    .action(context.run((name: string, options: ExplainOptions) => explain(name, options, context)))
}

async function explain(name: string, options: ExplainOptions, context: Context): Promise<number> {
  const opened = openAuth(context, options, [name])
  const read = await readDocument(name, context.io, opened)
  const chosen = isChosen(options)
  const auth = await opened()
  const { commandFor, describeTargets, needsOfProviders, providerLine } = await import('../known-providers.ts')
  const described = await describeTargets(read, auth, chosen ? [chosenTarget(read.document, options, read)] : undefined)
  const { stdout } = context.io
  const warnings = described.flatMap(({ explanation }) => explanation.warnings)
  const told = options.json || options.all ? warnings : withCounts(warnings)
  for (const warning of told) context.diagnostics.warn(warning)
  if (options.json)
    await write(
      stdout,
      `${forJson(
        described.map((one) => jsonOf(one, commandFor)),
        2,
      )}\n`,
    )
  else {
    const advice = adviceFor(name, read, described)
    const room = options.all ? Number.POSITIVE_INFINITY : MOST_LINES - told.length - (advice?.split('\n').length ?? 0)
    const needs = needsOfProviders(described.map(({ recognized }) => recognized)).map((need) => forLine(providerLine(need)))
    const view = { chosen, all: options.all ?? false, room, needs, style: styleOf(context.io, stdout) }
    // The line of a provider says what is missing, and its setup knows more than the document.
    const shown = described.map(({ explanation, recognized }) =>
      withDocument(recognized ? withoutProposals(explanation) : explanation, name),
    )
    await write(stdout, textOf(shown, view))
    if (advice !== undefined) await context.diagnostics.note(advice)
  }
  return worstExit(await Promise.all(described.map((one) => exitOf(one, chosen, auth))))
}

/** Returns what to do next: another document, or `setup` where a credential is missing. */
function adviceFor(name: string, { document }: ReadDocument, described: readonly DescribedTarget[]): string | undefined {
  if (kindOf(document) === 'unknown') return 'this is not an Item, a Collection, a Catalog or a list of them, so it has no assets and links'
  const isAsked = ({ explanation: { refs }, recognized, target }: DescribedTarget) =>
    !recognized && !refs.some(isUsable) && refs.some((ref) => isMissing(ref, target))
  if (name === '-' || !described.some(isAsked)) return undefined
  return `\n${setupCommand(name)} asks for what is missing`
}

/** True if a credential would answer the reference. */
function isMissing({ code, scheme = '' }: RefExplanation, target: Target): boolean {
  return code === 'NO_CREDENTIAL' && !isUnusable(scheme, new URL(target.href, target.scope.url).href)
}

/**
 * Returns 0 if the target has no references or one of them is usable, else the exit code of the error that `authorize` reports.
 * `authorize` sends nothing in that case.
 */
async function exitOf({ target, explanation }: DescribedTarget, chosen: boolean, auth: Auth): Promise<number> {
  const { refs, byAddress, code = byAddress?.code } = explanation
  if (refs.length === 0) return chosen && code !== undefined ? exitCodeOf(code) : EXIT.done
  if (refs.some(isUsable)) return EXIT.done
  try {
    await auth.authorize(target)
    return EXIT.done
  } catch (error) {
    if (isAuthError(error)) return exitCodeOf(error.code)
    throw error
  }
}

function isUsable({ code }: RefExplanation): boolean {
  return code === undefined
}

/** The known provider of a target. */
export interface ProviderExplanation {
  /** Its id, as in `stac-auth setup ID`. */
  readonly id: string
  /** `ready`: the target can be requested; `missing`: no credential is used for it. */
  readonly state: RecognizedTarget['state']
  /** The command that sets the provider up, or logs in. */
  readonly command: string
}

/** A target as it is printed for programs. */
export interface ExplainedTarget extends Explanation {
  /** The known provider whose file it is. */
  readonly provider?: ProviderExplanation
}

/** Returns the explanation with the document in its advice to set it up. */
function withDocument(explanation: Explanation, name: string): Explanation {
  const { hint } = explanation
  return hint === undefined || name === '-' ? explanation : { ...explanation, hint: namingDocument(hint, name) }
}

/** Returns the explanation without credentials to add. */
function withoutProposals(explanation: Explanation): Explanation {
  return {
    ...explanation,
    refs: explanation.refs.map(({ hint, ...ref }) => (hint === undefined || ref.code === 'NO_CREDENTIAL' ? ref : { ...ref, hint })),
  }
}

function jsonOf({ explanation, recognized }: DescribedTarget, commandFor: (recognized: RecognizedTarget) => string): object {
  const { pointer, href, refs, byAddress, signature, code, message, hint } = explanation
  const provider = recognized && { id: recognized.provider.id, state: recognized.state, command: commandFor(recognized) }
  const explained: Partial<ExplainedTarget> = defined({ pointer, href, refs, byAddress, signature, provider })
  return { ...explained, ...(code !== undefined && { code, message, hint }) }
}

/** Lines for one document, warnings and advice included, unless `--all` is given. */
const MOST_LINES = 12

/** Targets with the same explanation that are named. */
const MOST_NAMES = 3

interface View {
  readonly chosen: boolean
  readonly all: boolean
  /** Lines to print at most; the first block is always printed. */
  readonly room: number
  /** A line for each known provider of the targets. */
  readonly needs: readonly string[]
  readonly style: Style
}

/** Providers that are named; `--all` names each. */
const MOST_PROVIDERS = 3

/** Returns each warning once, with the number of other targets that have it too. */
function withCounts(warnings: readonly Warning[]): readonly Warning[] {
  const groups = groupBy(warnings, ({ code, message }) => `${code} ${message}`)
  return groups.map(([first, ...others]) =>
    others.length === 0 ? first : { ...first, message: `${first.message} (and ${plural(others.length, 'other target')})` },
  )
}

function groupBy<T>(values: readonly T[], keyOf: (value: T) => string): readonly (readonly [T, ...T[]])[] {
  const groups = new Map<string, [T, ...T[]]>()
  for (const value of values) {
    const group = groups.get(keyOf(value))
    if (group) group.push(value)
    else groups.set(keyOf(value), [value])
  }
  return [...groups.values()]
}

function textOf(explanations: readonly Explanation[], { chosen, all, room, needs, style }: View): string {
  const isTold = ({ refs, byAddress, signature, code }: Explanation) =>
    refs.length > 0 || byAddress?.used || signature || (chosen && code !== undefined)
  const asking = explanations.filter(isTold)
  const silent = explanations.filter((explanation) => !isTold(explanation))
  const groups = all ? asking.map((explanation) => [explanation] as const) : groupBy(asking, (one) => reasonLines(one, style).join('\n'))
  const blocks = groups.map((group) => [headOf(group, style), ...reasonLines(group[0], style)])
  const rest: string[][] = []
  if (asking.length === 0 && !chosen) rest.push(['this document declares no authentication'])
  else if (silent.length > 0)
    rest.push([`${silent.length} ${silent.length === 1 ? 'target declares' : 'targets declare'} no authentication`])
  if (needs.length > 0) rest.push(all ? [...needs] : cut(needs))
  const possible = silent.flatMap(({ byAddress }) => byAddress?.credential ?? [])
  for (const group of groupBy(possible, String)) rest.push([possibleLine(group[0], group.length, silent.length)])
  const spaced = [...blocks, ...rest].map((lines) => `${lines.join('\n')}\n`).join('\n')
  if (linesIn(spaced) <= room) return spaced
  // Too long with empty lines, or even without them.
  let shown = blocks.length
  const dense = () => {
    const left = groups.slice(shown).reduce((sum, { length }) => sum + length, 0)
    const more = left === 0 ? [] : [[`${plural(left, 'more target')} with other reasons: --all prints each`]]
    return [...blocks.slice(0, shown), ...more, ...rest].map((lines) => `${lines.join('\n')}\n`).join('')
  }
  while (shown > 1 && linesIn(dense()) > room) shown--
  return dense()
}

function cut(needs: readonly string[]): string[] {
  const more = needs.length - MOST_PROVIDERS
  return more <= 0 ? [...needs] : [...needs.slice(0, MOST_PROVIDERS), `${plural(more, 'more provider')}: --all names each`]
}

function linesIn(text: string): number {
  return text.split('\n').length - 1
}

function possibleLine(credential: string, count: number, all: number): string {
  const what = all === 1 ? 'this URL' : `the URLs of ${count} of them`
  return `"${credential}" may be sent to ${what}: use --by-address, or set "use": "by-address" in the credential`
}

/** Returns the line that names the targets with the same explanation; a single one with its URL. */
function headOf([first, ...others]: readonly [Explanation, ...Explanation[]], style: Style): string {
  if (others.length === 0) return `${style.bold(forLine(first.pointer))}  ${forUrl(first.href)}`
  const named = [first, ...others.slice(0, MOST_NAMES - 1)].map(({ pointer }) => forLine(pointer)).join(', ')
  const more = others.length - MOST_NAMES + 1
  return style.bold(`${others.length + 1} targets: ${named}${more > 0 ? ` and ${more} more` : ''}`)
}

function reasonLines({ refs, byAddress, signature, code, message = '', hint }: Explanation, style: Style): string[] {
  const good = (text: string) => [`  ${style.green(style.tick)} ${text}`]
  const bad = (text: string, advice?: string) => [`  ${style.red(style.cross)} ${text}`, ...hintLines(advice, '      ')]
  if (code !== undefined) return bad(headline({ code, message }), hint)
  if (signature) {
    const { kind, expiresAt, expired } = signature
    const sent = 'it is requested as it is, without a credential'
    if (expired) return bad(`the signature in its URL (${kind}) expired at ${expiresAt}: ${sent}. Read the document again for a new URL`)
    return good(`its URL carries a signature (${kind})${expiresAt === undefined ? '' : `, valid until ${expiresAt}`}: ${sent}`)
  }
  const lines = refs.flatMap((ref) => {
    const what = `${forLine(ref.ref)}${ref.scheme === undefined ? '' : ` (${forLine(ref.scheme)})`}`
    if (ref.code === undefined) return good(`${what}: ${forLine(ref.credential ?? 'needs no credential')}`)
    const isNamed = ref.message?.includes(`scheme "${ref.ref}"`)
    return bad(`${isNamed ? '' : `${what}: `}${whyNot(ref.code, ref)}`, ref.hint)
  })
  if (!byAddress) return lines
  if (byAddress.code === undefined) return [...lines, ...good(`by its URL: ${forLine(byAddress.credential ?? '')}`)]
  return [...lines, ...bad(`by its URL: ${whyNot(byAddress.code, byAddress)}`, byAddress.hint)]
}

/** Formats a reason with its pointer, except that of the URL and of the references, which the block names. */
function whyNot(code: ErrorCode, { message = '', pointer }: { readonly message?: string; readonly pointer?: string }): string {
  const isNamed = pointer !== undefined && /\/(?:href|auth:refs(?:\/\d+)?)$/.test(pointer) && !pointer.includes('/auth:schemes/')
  return headline({ code, message, ...(pointer !== undefined && !isNamed && { pointer }) })
}
