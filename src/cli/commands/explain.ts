import type { Command } from 'commander'
import type { Auth, ByAddressExplanation, Explanation, RefExplanation, SignatureExplanation } from '../../auth/auth.ts'
import { isUnusable } from '../../auth/requirement.ts'
import { isAuthError } from '../../errors.ts'
import { kindOf } from '../../stac/document.ts'
import { type Target, targetsOf } from '../../stac/target.ts'
import { forJson, forLine, forUrl, headline, hintLines } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import { EXIT, exitCodeOf, worstExit } from '../exit-code.ts'
import { type Style, styleOf, write } from '../io.ts'
import { openAuth } from '../open-auth.ts'
import { chosenTarget, isChosen, type TargetRequestOptions, withTargetRequestOptions } from '../options.ts'
import { type ReadDocument, readDocument } from '../read-document.ts'
import { setupCommand } from '../setup/setup-hint.ts'

interface ExplainOptions extends TargetRequestOptions {
  readonly json?: boolean
}

/** `explain DOC`: shows the scheme of each reference, the credential that would be used, and why others are rejected. */
export function addExplain(program: Command, context: Context): void {
  const command = program.command('explain <document>').description('show which credential each reference would use, or why it has none')
  withTargetRequestOptions(command)
    .option('--json', 'print JSON')
    .action(context.run((name: string, options: ExplainOptions) => explain(name, options, context)))
}

async function explain(name: string, options: ExplainOptions, context: Context): Promise<number> {
  const auth = openAuth(context, options, [name])
  const read = await readDocument(name, context.io, auth)
  const targets = targetsToExplain(read, options)
  const explainer = await auth()
  const explanations = await Promise.all(targets.map((target) => explainer.explain(target)))
  for (const warning of explanations.flatMap(({ warnings }) => warnings)) context.diagnostics.warn(warning)
  const { stdout } = context.io
  if (options.json) await write(stdout, `${forJson(explanations.map(jsonOf), 2)}\n`)
  else {
    await write(stdout, textOf(explanations, isChosen(options), styleOf(context.io, stdout)))
    const advice = adviceFor(name, read, targets, explanations)
    if (advice !== undefined) await context.diagnostics.note(advice)
  }
  return worstExit(
    await Promise.all(explanations.map((explanation, index) => exitOf(explanation, isChosen(options), targets[index], explainer))),
  )
}

/** Returns what to do next: another document, or `setup` where a credential is missing. */
function adviceFor(
  name: string,
  { document }: ReadDocument,
  targets: readonly Target[],
  explanations: readonly Explanation[],
): string | undefined {
  if (kindOf(document) === 'unknown') return 'this is not an Item, a Collection, a Catalog or a list of them, so it has no assets and links'
  if (name === '-' || !explanations.some(({ refs }, index) => !refs.some(isUsable) && refs.some((ref) => isMissing(ref, targets[index]))))
    return undefined
  return `\n${setupCommand(name)} asks for what is missing`
}

/** True if a credential would answer the reference. */
function isMissing({ code, scheme = '' }: RefExplanation, target: Target | undefined): boolean {
  return code === 'NO_CREDENTIAL' && target !== undefined && !isUnusable(scheme, new URL(target.href, target.scope.url).href)
}

/** Returns the selected target, else all targets with a URL; definitions in `item_assets` have none. */
function targetsToExplain({ document, url }: ReadDocument, options: ExplainOptions): Target[] {
  const where = url === undefined ? {} : { url }
  if (isChosen(options)) return [chosenTarget(document, options, where)]
  return [...targetsOf(document, where)].filter((target) => target.kind !== 'item_asset')
}

/**
 * Returns 0 if the target has no references or one of them is usable, else the exit code of the error that `authorize` reports.
 * `authorize` sends nothing in that case.
 */
async function exitOf(
  { refs, byAddress, code = byAddress?.code }: Explanation,
  chosen: boolean,
  target: Target | undefined,
  auth: Auth,
): Promise<number> {
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

function jsonOf({ pointer, href, refs, byAddress, signature, code, message, hint }: Explanation): object {
  return {
    pointer,
    href,
    refs,
    ...(byAddress && { byAddress }),
    ...(signature && { signature }),
    ...(code !== undefined && { code, message, hint }),
  }
}

function textOf(explanations: readonly Explanation[], chosen: boolean, style: Style): string {
  const isTold = ({ refs, byAddress, signature, code }: Explanation) =>
    refs.length > 0 || byAddress?.used || signature || (chosen && code !== undefined)
  const asking = explanations.filter(isTold)
  const silent = explanations.filter((explanation) => !isTold(explanation))
  const blocks = asking.map((explanation) => blockOf(explanation, style))
  if (asking.length === 0 && !chosen) blocks.push(['no target in this document requires authentication'])
  else if (silent.length > 0)
    blocks.push([`${silent.length} ${silent.length === 1 ? 'target requires' : 'targets require'} no authentication`])
  for (const [credential, count] of covered(silent)) blocks.push([possibleLine(credential, count, silent.length)])
  return blocks.map((lines) => `${lines.join('\n')}\n`).join('\n')
}

/** Counts, by credential, the targets without references whose URL the credential allows. */
function covered(explanations: readonly Explanation[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { byAddress } of explanations) {
    if (byAddress?.credential === undefined) continue
    counts.set(byAddress.credential, (counts.get(byAddress.credential) ?? 0) + 1)
  }
  return counts
}

function possibleLine(credential: string, count: number, all: number): string {
  const what = all === 1 ? 'this URL' : `the URLs of ${count} of them`
  return `"${credential}" may be sent to ${what}: use --by-address, or set "use": "by-address" in the credential`
}

function blockOf({ pointer, href, refs, byAddress, signature, code, message = '', hint }: Explanation, style: Style): string[] {
  const lines = [`${style.bold(forLine(pointer))}  ${forUrl(href)}`]
  if (code !== undefined) return [...lines, `  ${style.red(style.cross)} ${headline({ code, message })}`, ...hintLines(hint, '      ')]
  if (signature) return [...lines, signatureLine(signature, style)]
  return [...lines, ...refs.flatMap((ref) => refLines(ref, style)), ...(byAddress ? byAddressLines(byAddress, style) : [])]
}

function refLines(ref: RefExplanation, style: Style): string[] {
  const what = `${forLine(ref.ref)}${ref.scheme === undefined ? '' : ` (${forLine(ref.scheme)})`}`
  if (ref.code === undefined) return [`  ${style.green(style.tick)} ${what}: ${forLine(ref.credential ?? 'needs no credential')}`]
  const why = headline({ code: ref.code, message: ref.message ?? '', ...(ref.pointer !== undefined && { pointer: ref.pointer }) })
  return [`  ${style.red(style.cross)} ${what}: ${why}`, ...hintLines(ref.hint, '      ')]
}

function signatureLine({ kind, expiresAt, expired }: SignatureExplanation, style: Style): string {
  const sent = 'it is requested as it is, without a credential'
  if (expired)
    return `  ${style.red(style.cross)} the signature in its URL (${kind}) expired at ${expiresAt}: ${sent}. Read the document again for a new URL`
  return `  ${style.green(style.tick)} its URL carries a signature (${kind})${expiresAt === undefined ? '' : `, valid until ${expiresAt}`}: ${sent}`
}

function byAddressLines({ credential = '', code, message = '', hint, pointer }: ByAddressExplanation, style: Style): string[] {
  if (code === undefined) return [`  ${style.green(style.tick)} by its URL: ${forLine(credential)}`]
  const why = headline({ code, message, ...(pointer !== undefined && { pointer }) })
  return [`  ${style.red(style.cross)} by its URL: ${why}`, ...hintLines(hint, '      ')]
}
