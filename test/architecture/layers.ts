/** The layers of `src`: who may import whom, and which packages. */
import { posix } from 'node:path'
import type { SourceFile } from './files.ts'
import { type Import, importsOf } from './imports.ts'

interface Layer {
  /** Layers whose modules may be imported, besides the layer's own. */
  readonly from: readonly string[]
  /** Layers of which only the types may be imported. */
  readonly types?: readonly string[]
  /** Packages that may be imported; `lazily` only by `import()` or as types. */
  readonly packages?: readonly string[]
  readonly lazily?: readonly string[]
}

export const VOCABULARY = ['errors', 'text', 'stac', 'http', 'crypto', 'net']
/** Where the platform's promise is written down. */
const CONTRACT = 'src/platform/platform.ts'
const CORE = [...VOCABULARY, 'auth', 'strategies', 'outputs', 'lint', 'crawl', 'objects', 'providers', 'services', 'platform']

/** Everything not written here is forbidden. */
export const LAYERS: Readonly<Record<string, Layer>> = {
  'error-codes': { from: [] },
  // Of the table the types alone: a page does not load its texts.
  errors: { from: [], types: ['error-codes'] },
  text: { from: ['errors'] },
  stac: { from: ['errors', 'text'] },
  net: { from: ['errors'] },
  http: { from: ['errors', 'text', 'net'] },
  crypto: { from: ['errors'] },
  auth: { from: [...VOCABULARY, '#platform'] },
  strategies: { from: [...VOCABULARY, 'auth', '#platform'] },
  outputs: { from: [...VOCABULARY, 'auth', '#platform'] },
  browser: { from: [...VOCABULARY, 'auth'] },
  // The types of frameworks in which the element is written.
  element: { from: [...VOCABULARY, 'auth', 'browser'], lazily: ['react', 'preact'] },
  lint: { from: ['errors', 'text', 'stac', 'http'] },
  adapters: { from: ['errors', 'text', 'stac', 'http', 'auth', 'outputs', 'lint'] },
  crawl: { from: ['errors', 'text', 'stac', 'http', 'net'] },
  objects: { from: ['errors', 'text', 'stac', 'http', 'auth'] },
  // Data, and its comparison with documents.
  providers: { from: ['errors', 'text', 'stac', 'http'], types: ['auth'] },
  services: { from: ['errors', 'text', 'stac', 'http', 'crypto', 'net', '#platform'], types: ['auth'] },
  platform: { from: [...VOCABULARY, 'auth'] },
  'platform/node': {
    from: [...CORE, 'node'],
    packages: ['node:'],
    lazily: ['undici', '@cloudflare/privacypass-ts', '@msgpack/msgpack', 'fflate'],
  },
  strategy: { from: [...VOCABULARY, 'auth'] },
  index: { from: [...VOCABULARY, 'auth', 'strategies'] },
  node: {
    from: [...CORE, 'platform/node'],
    packages: ['node:', 'undici'],
    lazily: [
      '@aws-sdk/client-s3',
      '@aws-sdk/credential-providers',
      '@aws-sdk/lib-storage',
      '@napi-rs/keyring',
      'kerberos',
      'bullmq',
      'ioredis',
      'picomatch',
    ],
  },
  cli: {
    from: [...CORE, 'error-codes', 'index', 'node', 'platform/node', '#platform'],
    // The public suffix list is loaded by a synchronous rule, with the first host that it compares.
    packages: ['node:', 'commander', 'tldts'],
    lazily: ['diff', 'undici', 'hyparquet', 'picomatch', 'vscode-languageserver', 'vscode-languageserver-textdocument'],
  },
}

/**
 * The folders of the layers that have several, and which of them each may import: types and `import()` count as well. A row names only rows
 * above it, so that no circle can be written down. `*` are the files that are in no folder, unless they have a row of their own.
 */
export const FOLDERS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  node: {
    base: [],
    transport: ['base'],
    credentials: ['base'],
    tokens: ['base', 'credentials'],
    login: ['base'],
    download: ['base', 'transport'],
    gateway: ['base', 'transport', 'download'],
    queue: ['base', 'download'],
    '*': ['base', 'transport', 'credentials', 'tokens', 'login', 'download', 'gateway', 'queue'],
  },
  cli: {
    '*': [],
    credentials: ['*'],
    'login.ts': ['*', 'credentials'],
    'orders.ts': ['*', 'credentials'],
    inputs: ['*'],
    lint: ['*', 'inputs'],
    crawl: ['*', 'inputs', 'lint'],
    queue: ['*', 'credentials', 'orders.ts', 'lint'],
    setup: ['*', 'credentials', 'login.ts'],
    doctor: ['*', 'credentials', 'login.ts', 'setup', 'queue'],
    run: ['*'],
    translate: ['*', 'credentials'],
    download: ['*', 'orders.ts', 'inputs', 'crawl', 'queue'],
    'authorize-lines.ts': ['*', 'download'],
    time: ['*'],
    help: ['*'],
    commands: [
      '*',
      'credentials',
      'login.ts',
      'orders.ts',
      'inputs',
      'lint',
      'crawl',
      'queue',
      'setup',
      'doctor',
      'run',
      'translate',
      'download',
      'authorize-lines.ts',
      'time',
      'help',
    ],
    'program.ts': ['*', 'help', 'commands'],
    'main.ts': ['*', 'program.ts'],
    'bin.ts': ['*', 'main.ts'],
  },
}

/** The modules of a layer that the command line may import: what is inside of its folders may move. All must be in use. */
export const ENTRIES: Readonly<Record<string, readonly string[]>> = {
  node: [
    'src/node/authorize-all.ts',
    'src/node/orders.ts',
    'src/node/base/index.ts',
    'src/node/credentials/index.ts',
    'src/node/download/index.ts',
    'src/node/gateway/index.ts',
    'src/node/login/index.ts',
    'src/node/queue/index.ts',
    'src/node/tokens/index.ts',
    'src/node/transport/index.ts',
  ],
}

/** Single modules that may do more than their layer. */
const MODULES: Readonly<Record<string, Layer>> = {
  'src/auth/create-auth.ts': { from: ['src/strategies/index.ts'] },
  // Providers are recognized by the URL patterns that credentials have.
  'src/providers/recognize.ts': { from: ['src/auth/url-pattern.ts'] },
  'src/browser/form-models.ts': { from: ['src/strategies/index.ts'] },
  // Types of the functions that a credential may hold.
  'src/auth/credential-input.ts': {
    from: ['src/strategies/http/private-token.ts', 'src/strategies/signed-url/parameters.ts'],
  },
  // Clients know an engine, and this one how it is made.
  'src/services/client/api-client.ts': { from: ['src/auth/create-auth.ts', 'src/auth/credential.ts'] },
}

/** Parts of `strategies` that may use another part; every other pair is a scheme that knows a scheme. */
const STRATEGY_PAIRS: readonly (readonly [user: string, used: RegExp])[] = [
  // A finished bearer token answers these two as well.
  ['oauth2', /^src\/strategies\/http\/bearer\.ts$/],
  ['open-id-connect', /^src\/strategies\/(?:oauth2\/|http\/bearer\.ts$)/],
]

/** What is no scheme type but common to them. */
const COMMON_TO_STRATEGIES = ['credential-values', 'proof-of-possession', 'stored-token']

/** Parts of `strategies` that may import a package, and only when it is needed. */
const STRATEGY_PACKAGES: readonly (readonly [user: RegExp, name: string])[] = [
  [/^src\/strategies\/(?:oauth2|open-id-connect)[/.]/, 'openid-client'],
]

/**
 * Modules that name the parts of a package that are in use, so that bundlers can leave out the others: they alone import it, and they
 * are loaded by `import()` themselves.
 */
const GATES: Readonly<Record<string, string>> = { 'src/strategies/oauth2/library.ts': 'openid-client' }

/** What is wrong with the imports of one file of `src`, one line each. */
export function layerViolations(path: string, text: string): readonly string[] {
  return importsOf(text).flatMap((found) => {
    const reason = refusal(path, found)
    return reason === undefined ? [] : [`${path}:${found.line} ${reason}`]
  })
}

/** The layer of a file: its folder, or its own name when it stands in `src` itself. */
export function layerOf(path: string): string {
  if (/^src\/platform\/node[^/]*\.ts$/.test(path)) return 'platform/node'
  return path.split('/')[1]?.replace(/\.ts$/, '') ?? ''
}

/**
 * Returns the groups of modules that import each other in a circle, sorted; modules in a circle may run before what they import. Imports of
 * types and `import()` do not count.
 */
export function importCycles(files: readonly SourceFile[]): readonly (readonly string[])[] {
  const imports = new Map(files.map(({ path, text }) => [path, staticImports(path, text)]))
  const order = new Map<string, number>()
  const stack: string[] = []
  const cycles: string[][] = []
  /** Tarjan's algorithm: returns the lowest position on the stack that the module reaches. */
  const visit = (path: string): number => {
    const position = order.size
    order.set(path, position)
    stack.push(path)
    let lowest = position
    for (const target of imports.get(path) ?? []) {
      if (!order.has(target) && imports.has(target)) lowest = Math.min(lowest, visit(target))
      else if (stack.includes(target)) lowest = Math.min(lowest, order.get(target) ?? lowest)
    }
    if (lowest === position) {
      const group = stack.splice(stack.indexOf(path))
      if (group.length > 1 || imports.get(path)?.includes(path)) cycles.push(group.sort())
    }
    return lowest
  }
  for (const path of imports.keys()) if (!order.has(path)) visit(path)
  return cycles
}

function staticImports(path: string, text: string): readonly string[] {
  return importsOf(text).flatMap(({ specifier, kind }) =>
    kind === 'static' && specifier?.startsWith('.') ? [posix.join(posix.dirname(path), specifier)] : [],
  )
}

function refusal(path: string, found: Import): string | undefined {
  const layer = layerOf(path)
  const allowed = LAYERS[layer]
  if (!allowed) return `is in no layer: "${layer}" is not in the table`
  if (found.specifier === undefined) return 'imports a computed name, which nobody can check'
  if (found.specifier === '#platform') return allowed.from.includes('#platform') ? undefined : `${layer} may not import #platform`
  if (!found.specifier.startsWith('.')) return packageRefusal(path, layer, found, found.specifier)
  const target = posix.join(posix.dirname(path), found.specifier)
  if (target === CONTRACT && found.kind === 'type' && allowed.from.includes('#platform')) return undefined
  return moduleRefusal(path, layer, target, found.kind)
}

function moduleRefusal(path: string, layer: string, target: string, kind: Import['kind']): string | undefined {
  const other = layerOf(target)
  if (target in GATES && kind === 'static') return `${target} may only be loaded when it is needed`
  if (!target.startsWith('src/')) return `imports ${target}, which is outside src`
  if (other === layer) return layer === 'strategies' ? strategyRefusal(path, target) : folderRefusal(layer, path, target)
  if (layer === 'cli' && ENTRIES[other]?.includes(target) === false) return `cli imports the inside of ${other} (${target})`
  if (LAYERS[layer]?.from.includes(other) || MODULES[path]?.from.includes(target)) return undefined
  if (kind === 'type' && LAYERS[layer]?.types?.includes(other)) return undefined
  return `${layer} may not import ${other} (${target})`
}

function folderRefusal(layer: string, path: string, target: string): string | undefined {
  const folders = FOLDERS[layer]
  const [user, used] = [folderIn(layer, path), folderIn(layer, target)]
  if (!folders || user === used || folders[user]?.includes(used)) return undefined
  return `${layer}/${user} may not import ${layer}/${used} (${target})`
}

/** Returns the row of a file of a layer: its folder, its name, or `*`. */
export function folderIn(layer: string, path: string): string {
  const [name = '', ...inner] = path.slice(`src/${layer}/`.length).split('/')
  return inner.length > 0 || FOLDERS[layer]?.[name] ? name : '*'
}

/** A scheme type knows no other one: its file and its folder are one part, the index lists them all. */
function strategyRefusal(path: string, target: string): string | undefined {
  const [user, used] = [partOf(path), partOf(target)]
  if (user === 'index' || user === used || COMMON_TO_STRATEGIES.includes(used)) return undefined
  if (STRATEGY_PAIRS.some(([name, pattern]) => path.startsWith(`src/strategies/${name}`) && pattern.test(target))) return undefined
  return `the strategy ${user} may not import the strategy ${used} (${target})`
}

function partOf(path: string): string {
  return path.split('/')[2]?.replace(/\.ts$/, '') ?? ''
}

function packageRefusal(path: string, layer: string, { kind }: Import, name: string): string | undefined {
  if (GATES[path] === name) return undefined
  const gate = Object.keys(GATES).find((module) => GATES[module] === name)
  if (gate && kind === 'dynamic') return `import() of ${name} loads all of it: name what is needed in ${gate}`
  const { packages = [], lazily = [] } = LAYERS[layer] ?? {}
  const matches = (allowed: string) => name === allowed || name.startsWith(/[:/]$/.test(allowed) ? allowed : `${allowed}/`)
  if (packages.some(matches)) return undefined
  const forStrategy = STRATEGY_PACKAGES.filter(([user]) => user.test(path)).map(([, allowed]) => allowed)
  if (![...lazily, ...forStrategy].some(matches)) return `${layer} may not import the package ${name}`
  return kind === 'static' ? `${name} may only be loaded when it is needed: await import('${name}')` : undefined
}
