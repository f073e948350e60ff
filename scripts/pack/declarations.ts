/**
 * Joins the declarations of the built modules into one file for each entry, and few that entries share. What no entry leads to is left out;
 * names that two modules declare are told apart.
 */
import { dirname, join, posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import type { PublishedFile } from './chunks.ts'

const dist = join(fileURLToPath(new URL('../..', import.meta.url)), 'dist')

/** Where what several entries need is declared: with the types of pages, and without. */
const SHARED = { any: 'chunks/types.d.ts', pages: 'chunks/types-of-pages.d.ts' }
const OF_PAGES = /^(?:browser|element)\//

/** A name that a module declares, or takes from a package. */
interface Named {
  readonly symbol: ts.Symbol
  /** In all files of the package. */
  name: string
  readonly statements: ts.Statement[]
  /** Below `dist`. */
  readonly module: string
  readonly imported?: { readonly from: string; readonly name: string }
}

/** A place in a text where a name stands. */
interface Mention {
  readonly from: number
  readonly to: number
  readonly one: Named
}

/** Returns the declarations of the entries, paths of modules below `dist`, at their own paths. */
export function joinedDeclarations(entries: readonly string[]): readonly PublishedFile[] {
  return new Declarations(entries).joined()
}

class Declarations {
  readonly #program: ts.Program
  readonly #checker: ts.TypeChecker
  readonly #entries: readonly string[]
  readonly #named = new Map<ts.Symbol, Named>()
  readonly #imported = new Map<string, Named>()

  constructor(entries: readonly string[]) {
    this.#entries = entries.map((path) => path.replace(/\.js$/, '.d.ts'))
    this.#program = ts.createProgram(
      this.#entries.map((path) => join(dist, path)),
      { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022, types: ['node'], noEmit: true, strict: true },
    )
    this.#checker = this.#program.getTypeChecker()
    for (const file of this.#program.getSourceFiles()) if (this.#isOurs(file)) this.#addNamesOf(file)
  }

  joined(): readonly PublishedFile[] {
    const exported = new Map(this.#entries.map((path) => [path, this.#exportsOf(path)]))
    const users = new Map<Named, Set<string>>()
    for (const [path, names] of exported) {
      const visit = (one: Named) => {
        const known = users.get(one) ?? new Set()
        if (known.has(path)) return
        users.set(one, known.add(path))
        for (const next of this.#neededBy(one)) visit(next)
      }
      for (const one of names.values()) visit(one)
    }
    tellApart(
      [...exported.values()].flatMap((names) => [...names.values()]),
      [...users.keys()],
    )
    const placeOf = ({ module }: Named, used: ReadonlySet<string>) =>
      used.size === 1 ? ([...used][0] ?? '') : OF_PAGES.test(module) ? SHARED.pages : SHARED.any
    const places = new Map([...users].map(([one, used]) => [one, placeOf(one, used)]))
    return [...this.#entries, ...Object.values(SHARED)].map((path) => ({ path, text: this.#textOf(path, places, exported.get(path)) }))
  }

  #isOurs(file: ts.SourceFile): boolean {
    return file.fileName.startsWith(`${dist}/`)
  }

  #addNamesOf(file: ts.SourceFile): void {
    const module = relative(dist, file.fileName)
    const globals: ts.Statement[] = []
    const classes: Named[] = []
    for (const statement of file.statements) {
      if (ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement)) continue
      if (ts.isExportAssignment(statement)) throw new Error(`${module} has a default export`)
      if (ts.isModuleDeclaration(statement)) {
        globals.push(statement)
        continue
      }
      const declared = ts.isVariableStatement(statement) ? statement.declarationList.declarations : [statement as ts.DeclarationStatement]
      for (const { name } of declared) {
        const symbol = name && this.#checker.getSymbolAtLocation(name)
        if (!symbol) throw new Error(`${module} declares something without a name`)
        const one = this.#named.get(symbol) ?? { symbol, name: symbol.name, statements: [], module }
        one.statements.push(statement)
        this.#named.set(symbol, one)
        if (ts.isClassDeclaration(statement)) classes.push(one)
      }
    }
    // Such as the name of an element, which is known where its class is.
    if (globals.length > 0 && classes.length !== 1) throw new Error(`${module} declares globals, but not one class`)
    classes[0]?.statements.push(...globals)
  }

  /** What an entry exports, by the names under which it does. */
  #exportsOf(path: string): ReadonlyMap<string, Named> {
    const file = this.#program.getSourceFile(join(dist, path))
    const module = file && this.#checker.getSymbolAtLocation(file)
    if (!module) throw new Error(`${path} exports nothing`)
    return new Map(
      this.#checker.getExportsOfModule(module).map((symbol) => {
        const one = this.#found(symbol)
        if (!one) throw new Error(`${path} exports ${symbol.name}, which is not declared in the package`)
        return [symbol.name, one]
      }),
    )
  }

  /** What a symbol stands for, when it is a name of ours or of a package. */
  #found(symbol: ts.Symbol): Named | undefined {
    const target = symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol
    const known = this.#named.get(target)
    if (known || target === symbol) return known
    const specifier = symbol.declarations?.find(ts.isImportSpecifier)
    const from = specifier?.parent.parent.parent.moduleSpecifier
    if (!specifier || !from || !ts.isStringLiteral(from) || from.text.startsWith('.')) throw new Error(`${symbol.name} is not found`)
    const name = (specifier.propertyName ?? specifier.name).text
    const key = `${from.text} ${name}`
    const one = this.#imported.get(key) ?? { symbol: target, name, statements: [], module: '', imported: { from: from.text, name } }
    this.#imported.set(key, one)
    return one
  }

  #foundAt(node: ts.Identifier): Named | undefined {
    const symbol = this.#checker.getSymbolAtLocation(node)
    return symbol && this.#found(symbol)
  }

  /** The places in a statement where names stand. */
  #mentions(statement: ts.Statement): readonly Mention[] {
    const found: Mention[] = []
    const visit = (node: ts.Node): void => {
      if (ts.isImportTypeNode(node)) {
        const { qualifier } = node
        const one = qualifier && ts.isIdentifier(qualifier) ? this.#foundAt(qualifier) : undefined
        if (!qualifier || !one) throw new Error(`${node.getText()} in ${statement.getSourceFile().fileName} cannot be joined`)
        found.push({ from: node.argument.pos - 'import('.length, to: qualifier.end, one })
        node.typeArguments?.forEach(visit)
        return
      }
      if (ts.isIdentifier(node)) {
        const one = this.#foundAt(node)
        if (one) found.push({ from: node.getStart(), to: node.end, one })
      }
      ts.forEachChild(node, visit)
    }
    visit(statement)
    return found
  }

  #neededBy({ statements }: Named): ReadonlySet<Named> {
    return new Set(statements.flatMap((statement) => this.#mentions(statement).map(({ one }) => one)))
  }

  #textOf(path: string, places: ReadonlyMap<Named, string>, exported?: ReadonlyMap<string, Named>): string {
    const own = [...places].flatMap(([one, place]) => (place === path && !one.imported ? [one] : []))
    const statements = [...new Set(own.flatMap((one) => one.statements))]
    const needed = new Set([...own.flatMap((one) => [...this.#neededBy(one)]), ...(exported?.values() ?? [])])
    const imports = new Map<string, string[]>()
    for (const one of needed) {
      const place = places.get(one) ?? ''
      if (!one.imported && place === path) continue
      const from = one.imported?.from ?? posix.relative(dirname(path), place.replace(/\.d\.ts$/, '.js')).replace(/^(?!\.)/, './')
      const given = one.imported?.name ?? one.name
      imports.set(from, [...(imports.get(from) ?? []), given === one.name ? given : `${given} as ${one.name}`])
    }
    const names = exported ? [...exported].map(([as, { name }]) => (as === name ? name : `${name} as ${as}`)) : own.map(({ name }) => name)
    return [
      ...[...imports].map(([from, list]) => `import { ${list.sort().join(', ')} } from '${from}'`),
      ...statements.map((statement) => this.#declared(statement)),
      `export { ${names.sort().join(', ')} }`,
      '',
    ].join('\n')
  }

  /** The text of a statement with the names of the package, not exported. */
  #declared(statement: ts.Statement): string {
    const file = statement.getSourceFile()
    const start = statement.getStart(file, true)
    const edits = this.#mentions(statement).map(({ from, to, one }) => ({ from, to, text: one.name }))
    for (const modifier of (ts.canHaveModifiers(statement) && ts.getModifiers(statement)) || []) {
      if (modifier.kind === ts.SyntaxKind.ExportKeyword) edits.push({ from: modifier.getStart(file), to: modifier.end + 1, text: '' })
    }
    let text = file.text.slice(start, statement.end)
    for (const { from, to, text: by } of edits.sort((one, other) => other.from - one.from))
      text = text.slice(0, from - start) + by + text.slice(to - start)
    return text
  }
}

/** Gives every name a name of its own; what entries export keeps its own where it can. */
function tellApart(exported: readonly Named[], all: readonly Named[]): void {
  const taken = new Set<string>()
  for (const one of new Set([...exported, ...all])) {
    const { name } = one
    for (let number = 2; taken.has(one.name); number++) one.name = `${name}_${number}`
    taken.add(one.name)
  }
}
