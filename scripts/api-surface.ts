/** What the package exports, by entry point, as its users see it: names, kinds, documentation, and types that they cannot import. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('..', import.meta.url))

/** A module that can be imported. */
export interface EntryPoint {
  /** `stac-auth/node`. */
  readonly name: string
  /** Path of its declarations from the root. */
  readonly path: string
}

/** One exported name. */
export interface ExportedName {
  readonly name: string
  readonly kind: 'class' | 'const' | 'enum' | 'function' | 'interface' | 'type'
  /** The first sentence of its comment; empty for none. */
  readonly summary: string
  /** Its declarations without comments. */
  readonly text: string
  /** The code of its examples. */
  readonly examples: readonly string[]
  /** The code of the examples of its members. */
  readonly memberExamples: readonly string[]
  /** True for a class of errors: users compare, but do not construct them. */
  readonly isError: boolean
  /** Its members that have a comment, and all of them but those whose type is one value. */
  readonly members: { readonly documented: number; readonly all: number; readonly missing: readonly string[] }
  /** Where it is declared: the same for one thing that several entry points export. */
  readonly origin: string
}

export interface Surface {
  readonly entry: EntryPoint
  readonly names: readonly ExportedName[]
  /** The types in the declarations of its names that no entry point exports, each with the first entry point that needs it. */
  readonly parts: readonly ExportedName[]
}

/** Returns the entry points of package.json, with one for each file of a pattern. */
export function entryPoints(): readonly EntryPoint[] {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const targets = Object.entries<string | null | { readonly types: string }>(exports)
  const hidden = new Set(targets.filter(([, target]) => target === null).map(([name]) => name))
  return targets.flatMap(([name, target]) => {
    const path = typeof target === 'string' ? target.replace(/\.js$/, '.d.ts') : target?.types
    if (!path?.endsWith('.d.ts') || name.includes('bundle')) return []
    const full = (wild: string) => ({ name: `stac-auth${name.slice(1).replace('*', wild)}`, path: path.replace('*', wild).slice(2) })
    if (!name.includes('*')) return [full('')]
    const files = readdirSync(join(root, path, '..')).filter((file) => file.endsWith('.d.ts'))
    return files.map((file) => full(file.replace('.d.ts', ''))).filter((entry) => !hidden.has(`.${entry.name.slice('stac-auth'.length)}`))
  })
}

/** Reads the declarations in dist. */
export function surfaces(): readonly Surface[] {
  const entries = entryPoints()
  const options = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.NodeNext, skipLibCheck: true, types: ['node'] }
  const program = ts.createProgram(
    entries.map(({ path }) => join(root, path)),
    options,
  )
  const checker = program.getTypeChecker()
  const modules = entries.map((entry) => {
    const file = program.getSourceFile(join(root, entry.path))
    const symbol = file && checker.getSymbolAtLocation(file)
    if (!symbol) throw new Error(`${entry.path} is not a module`)
    return { entry, symbols: checker.getExportsOfModule(symbol).map((exported) => ({ exported, symbol: resolved(exported, checker) })) }
  })
  const known = new Set(modules.flatMap(({ symbols }) => symbols.map(({ symbol }) => symbol)))
  return modules.map(({ entry, symbols }) => {
    const found: ts.Symbol[] = []
    const reader = { checker, known, found }
    const names = symbols.map(({ exported, symbol }) => describe(exported.name, symbol, reader)).sort(byName)
    const parts: ExportedName[] = []
    for (const symbol of found) parts.push(describe(symbol.name, symbol, reader))
    return { entry, names, parts: parts.sort(byName) }
  })
}

function byName(one: ExportedName, other: ExportedName): number {
  return one.name < other.name ? -1 : 1
}

interface Reader {
  readonly checker: ts.TypeChecker
  /** What is exported or found. */
  readonly known: Set<ts.Symbol>
  /** Types that no entry point exports. */
  readonly found: ts.Symbol[]
}

function resolved(symbol: ts.Symbol, checker: ts.TypeChecker): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
}

function describe(name: string, symbol: ts.Symbol, reader: Reader): ExportedName {
  const { checker } = reader
  const declarations = (symbol.declarations ?? []).filter((declaration) => isOurs(declaration))
  const [first] = declarations
  if (!first) throw new Error(`"${name}" has no declaration of its own`)
  for (const declaration of declarations) findTypes(declaration, reader)
  return {
    name,
    kind: kindOf(first),
    summary: firstSentence(ts.displayPartsToString(symbol.getDocumentationComment(checker))),
    text: declarations.map(textOf).join('\n'),
    examples: examplesOf(symbol, checker),
    memberExamples: declarations.flatMap(namedMembers).flatMap((member) => {
      const own = member.name && checker.getSymbolAtLocation(member.name)
      return own ? examplesOf(own, checker) : []
    }),
    isError: ts.isClassDeclaration(first) && isError(checker.getTypeAtLocation(first)),
    members: membersOf(declarations, checker),
    origin: `${first.getSourceFile().fileName.slice(root.length)}#${symbol.name}`,
  }
}

function examplesOf(symbol: ts.Symbol, checker: ts.TypeChecker): readonly string[] {
  const tags = symbol.getJsDocTags(checker).filter((tag) => tag.name === 'example')
  return tags.map((tag) => ts.displayPartsToString(tag.text))
}

function isError(type: ts.Type): boolean {
  return type.symbol?.name === 'Error' || (type.getBaseTypes() ?? []).some(isError)
}

function isOurs(declaration: ts.Declaration): boolean {
  const { fileName } = declaration.getSourceFile()
  return fileName.startsWith(root) && !fileName.includes('/node_modules/')
}

function kindOf(declaration: ts.Declaration): ExportedName['kind'] {
  if (ts.isFunctionDeclaration(declaration)) return 'function'
  if (ts.isClassDeclaration(declaration)) return 'class'
  if (ts.isInterfaceDeclaration(declaration)) return 'interface'
  if (ts.isTypeAliasDeclaration(declaration)) return 'type'
  if (ts.isEnumDeclaration(declaration)) return 'enum'
  return 'const'
}

const printer = ts.createPrinter({ removeComments: true })

function textOf(declaration: ts.Declaration): string {
  const node = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration
  return printer.printNode(ts.EmitHint.Unspecified, node, declaration.getSourceFile()).replace(/^export (?:declare )?/gm, '')
}

function firstSentence(text: string): string {
  const [, sentence = ''] = /^([\s\S]*?(?:\.(?=\s|$)|$))/.exec(text.trim()) ?? []
  return sentence.replace(/\s+/g, ' ').trim()
}

function namedMembers(declaration: ts.Declaration): readonly (ts.ClassElement | ts.TypeElement)[] {
  const isList = ts.isInterfaceDeclaration(declaration) || ts.isClassDeclaration(declaration)
  const alias = ts.isTypeAliasDeclaration(declaration) && ts.isTypeLiteralNode(declaration.type) ? declaration.type.members : []
  const members: readonly (ts.ClassElement | ts.TypeElement)[] = isList ? [...declaration.members] : alias
  return members.filter((member) => 'name' in member && !isPrivate(member) && !isTag(member))
}

function membersOf(declarations: readonly ts.Declaration[], checker: ts.TypeChecker): ExportedName['members'] {
  const named = declarations.flatMap(namedMembers)
  const missing = named.filter((member) => documentationOf(member, checker) === '').map((member) => member.name?.getText() ?? '')
  return { all: named.length, documented: named.length - missing.length, missing }
}

/** True for a member that tells one type from others, such as `kind: 'visit'`: its value says everything. */
function isTag(member: ts.Node): boolean {
  return ts.isPropertySignature(member) && member.type !== undefined && ts.isLiteralTypeNode(member.type)
}

function isPrivate(member: ts.Node): boolean {
  const flags = ts.getCombinedModifierFlags(member as ts.Declaration)
  const name = (member as ts.NamedDeclaration).name
  return (flags & ts.ModifierFlags.Private) !== 0 || (name !== undefined && ts.isPrivateIdentifier(name))
}

function documentationOf(member: ts.Node & { readonly name?: ts.Node }, checker: ts.TypeChecker): string {
  const symbol = member.name && checker.getSymbolAtLocation(member.name)
  return symbol ? ts.displayPartsToString(symbol.getDocumentationComment(checker)) : ''
}

/** Adds our types in a declaration that cannot be imported. */
function findTypes(declaration: ts.Declaration, { checker, known, found }: Reader): void {
  const visit = (node: ts.Node): void => {
    if (ts.canHaveModifiers(node) && isPrivate(node)) return
    if (ts.isTypeReferenceNode(node) || ts.isExpressionWithTypeArguments(node) || ts.isImportTypeNode(node)) {
      const name = ts.isTypeReferenceNode(node) ? node.typeName : ts.isImportTypeNode(node) ? node.qualifier : node.expression
      const symbol = name && checker.getSymbolAtLocation(name)
      const target = symbol && resolved(symbol, checker)
      const isType = target?.declarations?.some((one) => isOurs(one) && !ts.isTypeParameterDeclaration(one))
      if (target && isType && !known.has(target)) {
        known.add(target)
        found.push(target)
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.isVariableDeclaration(declaration) ? declaration.parent : declaration)
}
