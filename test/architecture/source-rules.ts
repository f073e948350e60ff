/** Rules about single source files that no compiler option and no linter rule states. */
import ts from 'typescript'
import { importsOf, nodesOf, parse } from './imports.ts'

export interface SourceRule {
  /** What holds, as a sentence. */
  readonly name: string
  /** Files the rule speaks about. */
  readonly applies: (path: string) => boolean
  /** What is wrong, one text each; empty when the rule holds. */
  readonly check: (text: string) => readonly string[]
  /** A source that breaks the rule, and one that keeps it: they prove that the check can fail. */
  readonly bad: string
  readonly good: string
}

/** A file is a concept with its helpers inside; beyond this it is more than one concept. */
const MAX_LINES = 600
const MAX_FUNCTION_LINES = 60

const inSrc = (path: string) => path.startsWith('src/')
const inTests = (path: string) => path.startsWith('test/')
const everywhere = () => true

export const sourceRules: readonly SourceRule[] = [
  {
    name: `no file is longer than ${MAX_LINES} lines`,
    applies: everywhere,
    check: (text) => (lines(text) > MAX_LINES ? [`${lines(text)} lines`] : []),
    bad: 'let a\n'.repeat(MAX_LINES + 1),
    good: 'let a\n'.repeat(MAX_LINES),
  },
  {
    name: `no function is longer than ${MAX_FUNCTION_LINES} lines`,
    applies: inSrc,
    check: (text) => longFunctions(text),
    bad: `function f() {\n${'  g()\n'.repeat(MAX_FUNCTION_LINES - 1)}}`,
    good: `function f() {\n${'  g()\n'.repeat(MAX_FUNCTION_LINES - 3)}function g() {\n\n}}`,
  },
  {
    name: 'there is no default export',
    applies: (path) => !path.endsWith('.config.ts'),
    check: (text) => nodes(text, (node) => (ts.isExportAssignment(node) && !node.isExportEquals) || hasDefaultModifier(node)),
    bad: 'export default function f() {}',
    good: 'export function f() {}',
  },
  {
    name: 'a module names what it exports',
    applies: everywhere,
    check: (text) => nodes(text, (node) => ts.isExportDeclaration(node) && !node.exportClause),
    bad: "export * from './a.ts'",
    good: "export { a } from './a.ts'",
  },
  {
    name: 'nothing is of type any',
    applies: everywhere,
    check: (text) => nodes(text, (node) => node.kind === ts.SyntaxKind.AnyKeyword),
    bad: 'const a = b as any',
    good: 'const a: unknown = "any"',
  },
  {
    name: 'no type error is silenced',
    applies: everywhere,
    check: (text) => comments(text, /@ts-(?:ignore|nocheck)/),
    bad: '// @ts-ignore\nconst a: string = 1',
    good: "const a = '@ts-' + 'ignore'",
  },
  {
    name: 'only strategies reveal secrets',
    applies: (path) => inSrc(path) && !path.startsWith('src/strategies/'),
    check: (text) => nodes(text, (node) => calls(node, 'reveal')),
    bad: 'const token = secret?.reveal()',
    good: 'class Secret { reveal() { return options.reveal } }',
  },
  {
    name: 'web code imports no Node module',
    applies: (path) => inSrc(path) && !/^src\/(?:node|cli)\/|^src\/platform\/node/.test(path),
    check: (text) => importsOf(text).flatMap(({ specifier }) => (specifier?.startsWith('node:') ? [specifier] : [])),
    bad: "const { readFile } = await import('node:fs/promises')",
    good: "const text = 'node:fs'",
  },
  {
    name: 'every server of ours listens on loopback only, the gateway also where the user says',
    // The language server and its tests listen to a stream of messages.
    applies: (path) =>
      ![
        'src/node/gateway/server.ts',
        'src/node/base/local-server.ts',
        'src/cli/lint/lsp/server.ts',
        'test/cli/language-server.ts',
      ].includes(path),
    check: (text) => nodes(text, (node) => calls(node, 'listen') && !/'(?:127\.0\.0\.1|::1)'/.test(node.getText())),
    bad: 'server.listen(0)',
    good: "server.listen(0, '127.0.0.1')",
  },
  {
    name: 'no test is left out',
    applies: (path) => inTests(path) && !path.startsWith('test/peers/'),
    check: (text) =>
      nodes(text, (node) => ts.isPropertyAccessExpression(node) && isSuite(node.expression) && LEFT_OUT.test(node.name.text)),
    bad: "describe('a', () => it.skip('b', () => {}))",
    good: "it.each([1])('skip.only(%i)', () => {})",
  },
  {
    name: 'no test measures time: a busy machine is slow, not wrong; figures come from bench/',
    applies: inTests,
    check: (text) =>
      nodes(text, (node) => ts.isPropertyAccessExpression(node) && /^(?:performance\.now|process\.hrtime)/.test(node.getText())),
    bad: 'const start = performance.now()',
    good: "const start = 'performance.now'",
  },
]

const LEFT_OUT = /^(?:skip|only|todo|fails|skipIf)$/

/** The texts of the nodes that break a rule, shortened and with their lines. */
function nodes(text: string, isBad: (node: ts.Node) => unknown): string[] {
  const source = parse(text)
  const found: string[] = []
  for (const node of nodesOf(text)) {
    if (!isBad(node)) continue
    const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1
    found.push(`line ${line}: ${node.getText(source).split('\n')[0]?.slice(0, 80)}`)
  }
  return found
}

/** A function that stands inside another is measured for itself, not with the outer one. */
function longFunctions(text: string): string[] {
  return nodes(text, (node) => isFunction(node) && linesOf(node) - innerLines(node) > MAX_FUNCTION_LINES)
}

function isFunction(node: ts.Node): boolean {
  return ts.isFunctionLike(node) && 'body' in node && node.body !== undefined
}

function innerLines(node: ts.Node): number {
  let sum = 0
  ts.forEachChild(node, (child) => {
    sum += isFunction(child) ? linesOf(child) - 1 : innerLines(child)
  })
  return sum
}

function linesOf(node: ts.Node): number {
  return node.getText().split('\n').length
}

/** Comments are no nodes: every token's leading ones are looked at, where the text has the pattern at all. */
function comments(text: string, pattern: RegExp): string[] {
  const found = new Set<string>()
  for (const node of pattern.test(text) ? nodesOf(text) : []) {
    for (const { pos, end } of ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []) {
      if (pattern.test(text.slice(pos, end))) found.add(text.slice(pos, end))
    }
  }
  return [...found]
}

function lines(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
}

function hasDefaultModifier(node: ts.Node): boolean {
  return ts.canHaveModifiers(node) && ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword) === true
}

/** True for a call of a method of that name, also one written as text. */
function calls(node: ts.Node, name: string): boolean {
  if (!ts.isCallExpression(node)) return false
  const { expression: callee } = node
  if (ts.isPropertyAccessExpression(callee)) return callee.name.text === name
  return (
    ts.isElementAccessExpression(callee) && ts.isStringLiteralLike(callee.argumentExpression) && callee.argumentExpression.text === name
  )
}

function isSuite(node: ts.Expression): boolean {
  return /^(?:it|test|describe|suite|bench)\b/.test(node.getText())
}
