/** Findings and fixes of an open document, as the Language Server Protocol has them. */
import type { CodeAction, Diagnostic, Range, TextEdit } from 'vscode-languageserver/node'
import type { TextDocument } from 'vscode-languageserver-textdocument'
import { type Candidate, fixesIn, fixText } from '../../../lint/fix/fix-text.ts'
import { LintRun, type Problem, type Severity } from '../../../lint/index.ts'
import { pageOf } from '../../../lint/reporters/sarif.ts'
import type { Edit } from '../../../stac/json-text.ts'
import { forLine } from '../../../text/sanitize.ts'
import type { LintSettings } from '../lint-run.ts'
import { localLinter, siteOf } from '../linter.ts'

/** An open document, and its name for the configuration. */
export interface OpenDocument {
  readonly document: TextDocument
  readonly name: string
}

/** Findings that an editor is sent for one document; VS Code shows no more. */
const MOST = 1000

const SEVERITIES: Readonly<Record<Severity, Diagnostic['severity']>> = { error: 1, warn: 2, info: 3 }

/** Returns the findings of a document; none if it is not STAC. */
export function diagnosticsOf(open: OpenDocument, settings: LintSettings): Diagnostic[] {
  const place = placesIn(open.document)
  const problems = problemsIn(open, settings).sort((one, other) => weight(one) - weight(other))
  return problems.slice(0, MOST).map((problem) => ({
    range: place(problem),
    severity: SEVERITIES[problem.severity],
    code: problem.code,
    codeDescription: { href: pageOf(problem.rule, problem.code) },
    source: SOURCE,
    message: forLine(problem.message),
  }))
}

const SOURCE = 'stac-auth'

function weight({ severity }: Problem): number {
  return SEVERITIES[severity] ?? 0
}

function problemsIn({ document, name }: OpenDocument, settings: LintSettings): Problem[] {
  const text = document.getText()
  const run = new LintRun({ siteOf })
  const linter = localLinter(settings, run)
  const { levels } = settings
  const about = { preset: levels.preset, rules: levels.levelsFor(name), document: name, skipUnused: true, mayBeForeign: true }
  const found = tasksOf(text, name).flatMap((task) => {
    // Linting in this process is synchronous.
    const { problems } = linter.lint(task, about) as { readonly problems: readonly Problem[] }
    // Editors report the syntax of every JSON file themselves.
    return problems.filter(({ code }) => code !== 'not-json' || task.text.includes('"stac_version"'))
  })
  return [...run.settled(found)]
}

/** Returns the text, or its lines if each is a document. */
function tasksOf(text: string, name: string): readonly { readonly text: string; readonly line: number }[] {
  if (!IN_LINES.test(name)) return [{ text, line: 1 }]
  const lines = text.split('\n').map((line, index) => ({ text: line, line: index + 1 }))
  return lines.filter((line) => line.text.trim() !== '')
}

const IN_LINES = /\.(?:ndjson|(?:geo)?jsonl)$/i

/** Returns the function that finds the range of a finding. Editors end a line at a carriage return too, the linter at a line feed only. */
function placesIn(document: TextDocument): (problem: Problem) => Range {
  const text = document.getText()
  const starts = [markIn(text)]
  for (let feed = text.indexOf('\n'); feed >= 0; feed = text.indexOf('\n', feed + 1)) starts.push(feed + 1)
  const at = (line = 1, column = 1) => document.positionAt((starts[line - 1] ?? 0) + column - 1)
  return ({ line, column, endLine, endColumn }) => ({ start: at(line, column), end: at(endLine ?? line, endColumn ?? column) })
}

/** The length of a byte order mark, which positions of the linter do not count. */
function markIn(text: string): number {
  return text.charCodeAt(0) === 0xfeff ? 1 : 0
}

/** Returns the fixes of findings in a range as quick fixes, or, when only that is asked for, all safe fixes at once. */
export function actionsIn(
  open: OpenDocument,
  range: Range,
  { diagnostics, only }: { readonly diagnostics: readonly Diagnostic[]; readonly only?: readonly string[] },
  settings: LintSettings,
): (CodeAction & { readonly edits: TextEdit[] })[] {
  const isAsked = (kind: string) => only?.some((asked) => kind === asked || kind.startsWith(`${asked}.`))
  if (IN_LINES.test(open.name)) return []
  const { document, name } = open
  const { levels } = settings
  const options = { preset: levels.preset, document: name, siteOf }
  const actions: (CodeAction & { readonly edits: TextEdit[] })[] = []
  if (isAsked(FIX_ALL)) {
    const { text, fixed } = fixText(document.getText(), { ...options, rules: levels.levelsFor(name, true) })
    if (fixed.length > 0) actions.push({ title: 'Apply all safe fixes', kind: FIX_ALL, edits: [changeOf(document, text)] })
  }
  if (only && !isAsked('quickfix')) return actions
  const place = placesIn(document)
  const text = document.getText().slice(markIn(document.getText()))
  const isWanted = (problem: Problem) => meets(place(problem), range)
  for (const candidate of fixesIn(text, { ...options, rules: levels.levelsFor(name), suggestions: true }, isWanted)) {
    const { problem, edits } = candidate
    const isSafe = problem.fix === 'safe'
    const at = place(problem)
    actions.push({
      title: `${titleOf(candidate, text)}${isSafe ? '' : ' (suggestion, needs a review)'}`,
      kind: 'quickfix',
      isPreferred: isSafe,
      diagnostics: diagnostics.filter((one) => one.source === SOURCE && one.code === problem.code && isSame(one.range, at)),
      edits: edits.map((edit) => editOf(document, edit)),
    })
  }
  return actions
}

/** The kind of the action that applies all safe fixes, for editors that run it on save. */
export const FIX_ALL = 'source.fixAll.stac-auth'

function meets(one: Range, other: Range): boolean {
  return !isBefore(one.end, other.start) && !isBefore(other.end, one.start)
}

function isBefore(one: Range['start'], other: Range['start']): boolean {
  return one.line < other.line || (one.line === other.line && one.character < other.character)
}

function isSame(one: Range, other: Range): boolean {
  return (
    !isBefore(one.start, other.start) && !isBefore(other.start, one.start) && !isBefore(one.end, other.end) && !isBefore(other.end, one.end)
  )
}

/** Characters of a title for the text before and after a fix. */
const MOST_SHOWN = 40

/** Returns the title of a fix, with what it changes if that is short. */
function titleOf({ problem: { code }, edits: [edit, ...others] }: Candidate, text: string): string {
  const [before, after] = edit ? [text.slice(edit.start, edit.end), edit.text].map((part) => part.replace(/^[\s,]+|[\s,]+$/g, '')) : []
  const isShort = (part = '') => part.length <= MOST_SHOWN && !part.includes('\n')
  if (others.length > 0 || !isShort(before) || !isShort(after)) return `Fix ${code}`
  if (!after) return forLine(`Fix ${code}: remove ${before}`)
  return forLine(before ? `Fix ${code}: replace ${before} with ${after}` : `Fix ${code}: add ${after}`)
}

function editOf(document: TextDocument, { start, end, text }: Edit): TextEdit {
  const mark = markIn(document.getText())
  return { range: { start: document.positionAt(start + mark), end: document.positionAt(end + mark) }, newText: text }
}

/** Returns the edit that makes a document equal to `after`: what is equal at both ends stays. */
function changeOf(document: TextDocument, after: string): TextEdit {
  const before = document.getText()
  const most = Math.min(before.length, after.length)
  let start = 0
  while (start < most && before[start] === after[start]) start++
  let left = 0
  while (left < most - start && before[before.length - 1 - left] === after[after.length - 1 - left]) left++
  const range = { start: document.positionAt(start), end: document.positionAt(before.length - left) }
  return { range, newText: after.slice(start, after.length - left) }
}
