/**
 * Finds the mutants of a source file, and writes the file with all of them: `$mutant(n)` decides at run time whether change `n` is made, so
 * that one transformed module serves every mutant.
 */
import ts from 'typescript'

/** One change of a source file. */
export interface Mutant {
  readonly id: number
  /** What kind of change it is. */
  readonly operator: string
  /** The function that contains it; empty at the top level. */
  readonly within: string
  /** It runs while the module is evaluated: once for all tests of a file, in whichever test loads the module. */
  readonly isStatic: boolean
  /** From 1. */
  readonly line: number
  /** The expression or statement before and after, on one line each. */
  readonly code: string
  readonly becomes: string
}

/** A source with all its mutants. */
interface Mutated {
  readonly mutants: readonly Mutant[]
  readonly code: string
}

/** A change of the text of a node: the node is replaced by a choice between both. */
interface Change {
  readonly operator: string
  readonly text: string
}

const COMPARISONS: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
}

const ARITHMETIC: Readonly<Record<string, string>> = { '+': '-', '-': '+', '*': '/', '/': '*', '+=': '-=', '-=': '+=' }

const METHODS: Readonly<Record<string, string>> = {
  some: 'every',
  every: 'some',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
  toLowerCase: 'toUpperCase',
  toUpperCase: 'toLowerCase',
  min: 'max',
  max: 'min',
  indexOf: 'lastIndexOf',
  lastIndexOf: 'indexOf',
  find: 'findLast',
}

/** Methods that return something of the type of their object: without the call it stays as it is. */
const REMOVED = ['filter', 'slice', 'sort', 'trim', 'normalize', 'replace', 'replaceAll', 'concat', 'reverse', 'toSorted']

/** Lists the mutants of a source, and writes it with all of them, or with those that `selects` accepts, numbered from `first`. */
export function mutated(source: string, selects: (mutant: Omit<Mutant, 'id'>) => boolean = () => true, first = 1): Mutated {
  const file = ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true)
  const mutants: Mutant[] = []
  const textOf = (node: ts.Node) => source.slice(node.getStart(file), node.end)

  const chosen = (node: ts.Node, changes: readonly Change[]) =>
    changes.flatMap(({ operator, text }) => {
      const mutant = {
        operator,
        within: functionAround(node),
        isStatic: !ts.findAncestor(node, ts.isFunctionLike),
        line: file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1,
        code: oneLine(textOf(node)),
        becomes: oneLine(text),
      }
      if (mutant.code === mutant.becomes || !selects(mutant)) return []
      const id = first + mutants.length
      mutants.push({ id, ...mutant })
      return [{ id, text }]
    })

  /** The text of a node with the mutants of everything in it. */
  const written = (node: ts.Node): string => {
    if (isLeftAlone(node)) return textOf(node)
    const own = ts.isSourceFile(node) ? [] : chosen(node, changesOf(node, textOf))
    const removals = isRemovable(node) ? chosen(node, [{ operator: 'removed statement', text: '' }]) : []
    let text = ''
    let at = node.getStart(file)
    ts.forEachChild(node, (child) => {
      text += source.slice(at, child.getStart(file)) + written(child)
      at = child.end
    })
    text += source.slice(at, node.end)
    for (const { id } of removals) text = `{if (!$mutant(${id})) {${text}\n}}`
    for (const { id, text: other } of own) text = `($mutant(${id}) ? (${other}) : (${text}))`
    return text
  }

  const code = source.slice(0, file.getStart(file)) + written(file) + source.slice(file.end)
  return { mutants, code }
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** Returns the name of the function, method or variable around a node, `Class.method` for members. */
function functionAround(node: ts.Node): string {
  for (let at: ts.Node | undefined = node.parent; at; at = at.parent) {
    if (ts.isFunctionDeclaration(at) || ts.isMethodDeclaration(at) || ts.isAccessor(at) || ts.isConstructorDeclaration(at)) {
      const name = at.name?.getText() ?? 'constructor'
      return ts.isClassLike(at.parent) ? `${at.parent.name?.text}.${name}` : name
    }
    if (ts.isVariableDeclaration(at) && ts.isSourceFile(at.parent.parent.parent)) return at.name.getText()
  }
  return ''
}

/** Types, names and imports have no mutants. */
function isLeftAlone(node: ts.Node): boolean {
  return (
    ts.isTypeNode(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isTypeParameterDeclaration(node) ||
    ts.isImportDeclaration(node) ||
    ts.isExportDeclaration(node) ||
    ts.isIdentifier(node) ||
    (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
  )
}

function isRemovable(node: ts.Node): boolean {
  if (ts.isThrowStatement(node) || ts.isContinueStatement(node)) return true
  if (!ts.isExpressionStatement(node)) return false
  const { expression } = node
  return !(ts.isCallExpression(expression) && expression.expression.kind === ts.SyntaxKind.SuperKeyword) && !ts.isStringLiteral(expression)
}

function changesOf(node: ts.Node, textOf: (node: ts.Node) => string): Change[] {
  const changes: Change[] = []
  const add = (operator: string, text: string) => changes.push({ operator, text })
  /** The text of this node with another text for one inside it. */
  const replacing = (inner: { getStart(): number; readonly end: number }, by: string) =>
    textOf(node).slice(0, inner.getStart() - node.getStart()) + by + textOf(node).slice(inner.end - node.getStart())

  const role = roleOf(node)
  if (role === 'test' || role === 'operand of &&') add('condition true', 'true')
  if (role === 'test' || role === 'loop' || role === 'operand of ||') add('condition false', 'false')
  if (role === 'result' && !['undefined', 'false', 'true', 'null'].includes(textOf(node))) add('empty return', 'undefined')

  if (ts.isBinaryExpression(node)) {
    const operator = node.operatorToken.getText()
    for (const other of COMPARISONS[operator] ?? []) add('comparison', replacing(node.operatorToken, other))
    if (operator === '&&' || operator === '||') add('logic', replacing(node.operatorToken, operator === '&&' ? '||' : '&&'))
    const hasText = [node.left, node.right].some((side) => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side))
    if (ARITHMETIC[operator] && !hasText) add('arithmetic', replacing(node.operatorToken, ARITHMETIC[operator]))
  }
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) add('negation', textOf(node.operand))
  if (node.kind === ts.SyntaxKind.TrueKeyword) add('boolean', 'false')
  if (node.kind === ts.SyntaxKind.FalseKeyword) add('boolean', 'true')
  if (ts.isNumericLiteral(node) && isValue(node)) {
    add('number', `${textOf(node)} + 1`)
    add('number', `${textOf(node)} - 1`)
  }
  if (isText(node) && isValue(node)) add('text', "''")
  if (ts.isRegularExpressionLiteral(node)) for (const text of withoutAnchors(textOf(node))) add('anchor', text)
  if (isEndOfChain(node)) addChain(node, replacing, add)
  return changes
}

/** Texts for people, which have spaces, are not mutated: tests assert codes rather than words. */
function isText(node: ts.Node): boolean {
  if (ts.isTaggedTemplateExpression(node.parent)) return false
  if (ts.isStringLiteralLike(node)) return node.text !== '' && !node.text.includes(' ')
  return (
    ts.isTemplateExpression(node) &&
    ![node.head, ...node.templateSpans.map(({ literal }) => literal)].some(({ text }) => text.includes(' '))
  )
}

/** Literals that stand for what cannot be missing (`list[0] ?? ''`), and names of members, are not values. */
function isValue(node: ts.Node): boolean {
  const { parent } = node
  if (ts.isBinaryExpression(parent) && parent.right === node && parent.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken)
    return false
  if (ts.isBindingElement(parent) && (ts.isArrayBindingPattern(parent.parent) || parent.propertyName === node)) return false
  return !((ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent) || ts.isMethodDeclaration(parent)) && parent.name === node)
}

type Role = 'test' | 'loop' | 'result' | 'operand of &&' | 'operand of ||' | undefined

function roleOf(node: ts.Node): Role {
  const { parent } = node
  if (!parent) return undefined
  if ((ts.isIfStatement(parent) && parent.expression === node) || (ts.isConditionalExpression(parent) && parent.condition === node))
    return 'test'
  const isLoop = (ts.isWhileStatement(parent) || ts.isDoStatement(parent)) && parent.expression === node
  if (isLoop || (ts.isForStatement(parent) && parent.condition === node)) return 'loop'
  if (
    (ts.isReturnStatement(parent) && parent.expression === node) ||
    (ts.isArrowFunction(parent) && parent.body === node && !ts.isBlock(node))
  )
    return 'result'
  if (!ts.isBinaryExpression(parent) || isMadeHere(node)) return undefined
  const operator = parent.operatorToken.kind
  if (node === parent.operatorToken || (ts.isBinaryExpression(node) && node.operatorToken.kind === operator)) return undefined
  if (operator === ts.SyntaxKind.AmpersandAmpersandToken) return 'operand of &&'
  return operator === ts.SyntaxKind.BarBarToken ? 'operand of ||' : undefined
}

/** True for what is never a condition: a new object, list or text. */
function isMadeHere(node: ts.Node): boolean {
  return (
    ts.isObjectLiteralExpression(node) || ts.isArrayLiteralExpression(node) || ts.isLiteralExpression(node) || ts.isTemplateExpression(node)
  )
}

/** The same expression without one of its anchors, for each of them. */
function withoutAnchors(regex: string): readonly string[] {
  const found: string[] = []
  let inClass = false
  const end = regex.lastIndexOf('/')
  for (let at = 1; at < end; at++) {
    const char = regex[at]
    if (char === '[') inClass = true
    if (char === ']') inClass = false
    const length = char === '\\' ? 2 : 1
    const isAnchor = !inClass && (char === '^' || char === '$' || (char === '\\' && regex[at + 1] === 'b'))
    // An empty expression would be a comment.
    if (isAnchor) found.push(`${regex.slice(0, at)}(?:)${regex.slice(at + length)}`)
    at += length - 1
  }
  return found
}

/** True for the end of a chain of calls and members: a change inside it must not end the chain early. */
function isEndOfChain(node: ts.Node): node is ts.Expression {
  if (!isLink(node)) return false
  const { parent } = node
  const goesOn = (isLink(parent) || ts.isNonNullExpression(parent)) && parent.expression === node
  return !goesOn && !ts.isDeleteExpression(parent) && !ts.isTaggedTemplateExpression(parent) && !isAssigned(node)
}

function isLink(node: ts.Node): node is ts.CallExpression | ts.PropertyAccessExpression | ts.ElementAccessExpression {
  return ts.isCallExpression(node) || ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)
}

function isAssigned(node: ts.Node): boolean {
  const { parent } = node
  if (ts.isPrefixUnaryExpression(parent) || ts.isPostfixUnaryExpression(parent)) return true
  return ts.isBinaryExpression(parent) && parent.left === node && isAssignment(parent.operatorToken.kind)
}

function isAssignment(kind: ts.SyntaxKind): boolean {
  return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment
}

/** Adds the changes of calls and of optional links in a chain. */
function addChain(end: ts.Node, replacing: (inner: ts.Node, by: string) => string, add: (operator: string, text: string) => void): void {
  for (let node = end; ; ) {
    if (isLink(node) && node.questionDotToken)
      add('optional link', replacing(node.questionDotToken, ts.isPropertyAccessExpression(node) ? '.' : ''))
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const { name, expression } = node.expression
      const other = Object.hasOwn(METHODS, name.text) ? METHODS[name.text] : undefined
      if (other) add('method', replacing(name, other))
      if (REMOVED.includes(name.text)) add('removed call', replacing(node, expression.getText()))
    }
    if (!isLink(node) && !ts.isNonNullExpression(node)) return
    node = node.expression
  }
}
