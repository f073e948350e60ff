/** The error codes that a module names, read from its syntax tree. */
import ts from 'typescript'
import { nodesOf } from './imports.ts'

export interface RaisedCode {
  readonly code: string
  /** The class that is made with it; undefined for the member `code` of an object. */
  readonly family?: string
  /** What is written for `retryable`: a literal, `false` when nothing is, undefined when it is computed. */
  readonly retryable?: boolean
}

/** A code as it is written: at least two capitals. `ERR_…` and `E…` of Node are no codes of ours. */
const CODE = /^[A-Z][A-Z\d]+(?:_[A-Z\d]+)*$/

/** Every code given to an error class of ours, or written as the member `code` of an object. */
export function raisedCodes(text: string): readonly RaisedCode[] {
  const found: RaisedCode[] = []
  for (const node of nodesOf(text)) {
    if (ts.isPropertyAssignment(node) && node.name.getText() === 'code') found.push(...codesIn(node.initializer).map((code) => ({ code })))
    const call = raising(node)
    if (!call) continue
    const retryable = retryableIn(call.fields)
    for (const code of codesIn(call.code)) found.push({ code, family: call.family, ...(retryable !== undefined && { retryable }) })
  }
  return found
}

/** Every text of a module that is written like a code and not only compared with. */
export function codeTexts(text: string): ReadonlySet<string> {
  const found = new Set<string>()
  for (const node of nodesOf(text)) if (ts.isStringLiteralLike(node) && CODE.test(node.text) && !isCompared(node)) found.add(node.text)
  return found
}

function isCompared({ parent }: ts.Node): boolean {
  if (!ts.isBinaryExpression(parent)) return false
  const operator = parent.operatorToken.kind
  return operator === ts.SyntaxKind.EqualsEqualsEqualsToken || operator === ts.SyntaxKind.ExclamationEqualsEqualsToken
}

/** `new SomeError('CODE', …)`, or `super('CODE', …)` in a class of errors. */
function raising(node: ts.Node): { readonly family: string; readonly code: ts.Node; readonly fields: ts.Node | undefined } | undefined {
  if (ts.isNewExpression(node) && /Error$/.test(node.expression.getText()) && node.arguments?.[0]) {
    return { family: node.expression.getText(), code: node.arguments[0], fields: node.arguments[2] }
  }
  if (!ts.isCallExpression(node) || node.expression.kind !== ts.SyntaxKind.SuperKeyword || !node.arguments[0]) return undefined
  const owner = ts.findAncestor(node, ts.isClassDeclaration)
  const base = owner?.heritageClauses?.[0]?.types[0]?.expression.getText() ?? ''
  const family = /Error$/.test(owner?.name?.text ?? '') ? (owner?.name?.text ?? '') : base
  return { family, code: node.arguments[0], fields: node.arguments[2] }
}

/** The texts that an expression may be, as far as they are written there. */
function codesIn(node: ts.Node): readonly string[] {
  if (ts.isStringLiteralLike(node)) return CODE.test(node.text) ? [node.text] : []
  if (ts.isConditionalExpression(node)) return [...codesIn(node.whenTrue), ...codesIn(node.whenFalse)]
  if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node)) return codesIn(node.expression)
  if (ts.isBinaryExpression(node)) return [...codesIn(node.left), ...codesIn(node.right)]
  return []
}

function retryableIn(fields: ts.Node | undefined): boolean | undefined {
  if (!fields) return false
  if (!ts.isObjectLiteralExpression(fields)) return undefined
  const member = fields.properties.find((property) => property.name?.getText() === 'retryable')
  // What is spread into the object may say it.
  if (!member) return fields.properties.some(ts.isSpreadAssignment) ? undefined : false
  if (!ts.isPropertyAssignment(member)) return undefined
  if (member.initializer.kind === ts.SyntaxKind.TrueKeyword) return true
  return member.initializer.kind === ts.SyntaxKind.FalseKeyword ? false : undefined
}
