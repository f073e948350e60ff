/** What a module imports, read from its syntax tree. */
import ts from 'typescript'

export interface Import {
  /** As written; undefined where it is computed and nobody can check it. */
  readonly specifier: string | undefined
  /** `type` leaves no trace at run time; `dynamic` loads when it is reached. */
  readonly kind: 'static' | 'type' | 'dynamic'
  readonly line: number
}

/** Every import of a module: `import`, `export … from`, `import()`, `import type`, types written `import('…')`, `require()`. */
export function importsOf(text: string): readonly Import[] {
  const imports = known.get(text) ?? readImports(text)
  known.set(text, imports)
  return imports
}
/** Of each text that was read: many rules ask for the imports of the same modules. */
const known = new Map<string, readonly Import[]>()

function readImports(text: string): readonly Import[] {
  const part = partWithImports(text)
  const source = parse(part)
  const found: Import[] = []
  const add = (node: ts.Node, specifier: ts.Node | undefined, kind: Import['kind']) => {
    const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1
    found.push({ specifier: specifier && literal(specifier, source), kind, line })
  }
  for (const node of nodesOf(part)) {
    if (ts.isImportDeclaration(node)) add(node, node.moduleSpecifier, typeOnlyImport(node) ? 'type' : 'static')
    else if (ts.isExportDeclaration(node) && node.moduleSpecifier) add(node, node.moduleSpecifier, node.isTypeOnly ? 'type' : 'static')
    else if (ts.isExternalModuleReference(node)) add(node, node.expression, 'static')
    else if (ts.isImportTypeNode(node)) add(node, ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, 'type')
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) add(node, node.arguments[0], 'dynamic')
    else if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'require')
      add(node, node.arguments[0], 'static')
  }
  return found
}

/** Imports inside of statements; a constant anywhere in the module may stand in their place. */
const NESTED = /\bimport\s*[(/]|\brequire\b/

/** Returns the text up to the line of its last import: the parser needs most of its time for what follows. */
function partWithImports(text: string): string {
  if (NESTED.test(text)) return text
  const final = [...text.matchAll(/\bimport\b|\bfrom\s*['"/]/g)].at(-1)
  if (!final) return ''
  const end = text.indexOf('\n', final.index + final[0].length)
  return end < 0 ? text : text.slice(0, end)
}

interface Parsed {
  readonly text: string
  readonly source: ts.SourceFile
  readonly nodes: ts.Node[]
}

/** The syntax tree of a TypeScript or JavaScript module. The last one is kept, for checks that follow each other. */
export function parse(text: string): ts.SourceFile {
  return parsed(text).source
}

/** Every node of a module, parents first. */
export function nodesOf(text: string): readonly ts.Node[] {
  const { nodes, source } = parsed(text)
  if (nodes.length === 0) collect(source, nodes)
  return nodes
}

function parsed(text: string): Parsed {
  if (text !== last?.text) last = { text, source: ts.createSourceFile('module.ts', text, ts.ScriptTarget.Latest, true), nodes: [] }
  return last
}
let last: Parsed | undefined

function collect(node: ts.Node, nodes: ts.Node[]): void {
  nodes.push(node)
  ts.forEachChild(node, (child) => collect(child, nodes))
}

/** The text of a literal, or of the constant of the module that stands in its place. */
function literal(node: ts.Node, source: ts.SourceFile): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text
  if (!ts.isIdentifier(node)) return undefined
  let value: string | undefined
  for (const other of nodesOf(source.text)) {
    if (!ts.isVariableDeclaration(other) || other.name.getText() !== node.text || !(other.parent.flags & ts.NodeFlags.Const)) continue
    if (other.initializer && ts.isStringLiteralLike(other.initializer)) value = other.initializer.text
  }
  return value
}

/** `import type …`, or a list of which every name is a type. */
function typeOnlyImport({ importClause }: ts.ImportDeclaration): boolean {
  if (!importClause) return false
  if (importClause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true
  const names = importClause.namedBindings
  return !importClause.name && names !== undefined && ts.isNamedImports(names) && names.elements.every((name) => name.isTypeOnly)
}
