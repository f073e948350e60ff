import { describe, expect, it } from 'vitest'
import type { Files } from '../../scripts/generate/files.ts'
import { namesOf, publishedFiles } from '../../scripts/generate/published.ts'
import { projectFiles } from './files.ts'
import { LAYERS } from './layers.ts'

const files = new Map(projectFiles().map(({ path, text }) => [path, text]))
const textOf = (path: string) => files.get(path) ?? ''
/** Commands, and dependencies that a patch adds, that ask a registry for the package by its name. */
const FROM_A_REGISTRY =
  /^\+\s*"stac-auth":|\bnpx (?:-\S+ )*stac-auth\b(?![-.])|\b(?:npm|pnpm|yarn|bun) (?:install|i|add|exec|x) (?:-\S+ )*stac-auth(?![-.\w])/m
const manifest = JSON.parse(textOf('package.json'))
const writtenBy = (write: Files[string] | undefined, text: string) => (typeof write === 'function' ? write(text) : write)

describe('what is written for people agrees with what is there', () => {
  it('the README tells to run npm ci && npm test, and CI runs exactly that', () => {
    expect(textOf('README.md')).toContain('npm ci && npm test')
    expect(textOf('.ci/run')).toContain("bash -c 'npm ci && npm test'")
  })

  it('the README tells to run npm ci && npm run demo, which builds and starts what the tests of the demo start', () => {
    expect(textOf('README.md')).toContain('npm ci && npm run demo')
    expect(manifest.scripts.demo).toBe('npm run build && tsx examples/demo/main.ts')
    expect(textOf('test/demo/demo.test.ts')).toContain("const MAIN = 'examples/demo/main.ts'")
  })

  it('no text tells to get the package from a registry without saying that the name is not ours there yet', () => {
    const texts = [...files].filter(([path]) => /^(?:src|docs|examples|fixtures|scripts|schemas)\/|^[^/]+\.(?:md|ya?ml)$/.test(path))
    const telling = texts.flatMap(([path, text]) =>
      text
        .split(/\n\s*\n/)
        .filter((paragraph) => FROM_A_REGISTRY.test(paragraph) && !/not\s+registered\s+at\s+npm/.test(paragraph))
        .map((paragraph) => `${path}: ${paragraph}`),
    )
    expect(telling).toEqual([])
    for (const one of ['$ npx --yes stac-auth lint', ' "a": "1",\n+    "stac-auth": "^0.1.0",']) expect(one).toMatch(FROM_A_REGISTRY)
    expect('npm install -g ./stac-auth-0.1.0.tgz').not.toMatch(FROM_A_REGISTRY)
  })

  it('every address and version of the package in a text is written from package.json', () => {
    const { packed, action, clone } = namesOf(manifest)
    const file = packed.slice(0, -`${manifest.version}.tgz`.length)
    const own = new RegExp(`${file}[\\d.*]+tgz|${action}@|${clone}|registry\\.example/stac-auth:\\d|git clone .*"\\$program"`)
    const named = [...files]
      .filter(([path, text]) => /^(?:\.github|docs|examples)\/|^[A-Z]+\.md$|^Dockerfile$/.test(path) && own.test(text))
      .map(([path]) => path)
    const written = publishedFiles(manifest)
    expect(named.length).toBeGreaterThan(5)
    expect(named.filter((path) => !Object.hasOwn(written, path))).toEqual([])
    for (const [path, write] of Object.entries(written))
      expect([path, writtenBy(write, textOf(path)) === textOf(path)]).toEqual([path, true])
  })

  it.each([
    { name: 'geo-auth', version: '2.10.3', repository: 'https://github.com/acme/geo-auth' },
    { name: '@acme/stac-auth', version: '0.1.0', repository: 'github:acme/stac.auth_2', homepage: 'https://acme.example/docs' },
    { name: 'stac-auth', version: '1.0.0', homepage: 'https://stac-auth.example/' },
  ])('the texts of a package %j can be written again, and again for this one', (other) => {
    const { packed, action, clone } = namesOf(other)
    const here = Object.entries(publishedFiles(manifest))
    const there = publishedFiles(other)
    const texts = new Map(here.map(([path]) => [path, writtenBy(there[path], textOf(path))]))
    for (const [path, write] of here) {
      const text = texts.get(path) ?? ''
      expect([path, writtenBy(there[path], text) === text]).toEqual([path, true])
      expect([path, writtenBy(write, text) === textOf(path)]).toEqual([path, true])
    }
    const all = [...texts.values()].join('\n')
    for (const one of [`npm install -g ./${packed} `, `uses: ${action}@v${other.version} `, `--branch v${other.version} ${clone} "`])
      expect(all).toContain(one)
    expect(all).toContain(`const DOCS_SITE: string = '${other.homepage ? `${other.homepage.replace(/\/$/, '')}/` : ''}'`)
  })

  it('the image has the optional packages in the versions of the tests', () => {
    const installed = [...textOf('Dockerfile').matchAll(/ (bullmq|ioredis)@(\S+)/g)].map(([, name, version]) => [name, version])
    expect(installed).toEqual(['bullmq', 'ioredis'].map((name) => [name, manifest.devDependencies[name]]))
  })

  it('every dependency has a reason, and no reason is left from an old one', () => {
    const { dependencies, devDependencies, peerDependencies } = manifest
    const rows = textOf('CONTRIBUTING.md').split('## Dependencies')[1] ?? ''
    const named = [...rows.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell]) =>
      [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name),
    )
    expect([...new Set(named)].sort()).toEqual(Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies }).sort())
  })

  it('dependencies have exact versions, and the lock file agrees and names no registry', () => {
    const { dependencies, devDependencies } = manifest
    const lock = JSON.parse(textOf('package-lock.json'))
    for (const version of Object.values({ ...dependencies, ...devDependencies }))
      expect(version).toMatch(/^(?:npm:[a-z]+@)?\d+\.\d+\.\d+(?:-[a-z\d.]+)?$/)
    expect(lock.packages['']).toMatchObject({ version: manifest.version, dependencies, devDependencies })
    expect(Object.values<object>(lock.packages).filter((entry) => 'resolved' in entry)).toEqual([])
  })

  it('what users may add is optional, and installed here only to test with', () => {
    const { peerDependencies, peerDependenciesMeta } = manifest
    const lock = JSON.parse(textOf('package-lock.json'))
    for (const name of Object.keys(peerDependencies)) {
      expect(peerDependenciesMeta[name]).toEqual({ optional: true })
      if (!(name in manifest.devDependencies)) expect(Object.keys(lock.packages)).not.toContain(`node_modules/${name}`)
    }
    expect(lock.packages['']).toMatchObject({ peerDependencies, peerDependenciesMeta })
  })

  it('the lock file knows every platform, else npm ci refuses it', () => {
    const { packages } = JSON.parse(textOf('package-lock.json'))
    const optional = Object.values<{ optionalDependencies?: object }>(packages).flatMap(({ optionalDependencies }) =>
      Object.keys(optionalDependencies ?? {}),
    )
    expect(optional.length).toBeGreaterThan(0)
    expect(optional.filter((name) => !(`node_modules/${name}` in packages))).toEqual([])
  })

  it('every layer is explained', () => {
    const table = textOf('CONTRIBUTING.md').split('## Layers')[1] ?? ''
    const folders = Object.keys(LAYERS).map((layer) =>
      ['errors', 'error-codes', 'engine', 'strategy', 'index'].includes(layer) ? `\`${layer}.ts\`` : `\`${layer.split('/')[0]}/\``,
    )
    expect(folders.filter((name) => !table.includes(name))).toEqual([])
  })

  it('every command of package.json is explained or part of one that is', () => {
    const text = textOf('CONTRIBUTING.md') + textOf('README.md')
    const scripts: Record<string, string> = manifest.scripts
    expect(
      Object.keys(scripts).filter((name) => !/^pre(?:pack|pare)$/.test(name) && !new RegExp(`npm (?:run )?${name}\\b`).test(text)),
    ).toEqual([])
  })

  it('every output of authorize has a row in docs/outputs.md that says what its program does on a redirect', () => {
    const [, forms = ''] = /^const FORMS[^=]*= \{([\s\S]*?)^\}/m.exec(textOf('src/cli/commands/authorize.ts')) ?? []
    const names = [...forms.matchAll(/^ {2}(\w+): \{/gm)].map(([, name]) => name)
    expect(names.length).toBeGreaterThan(10)
    expect(names.filter((name) => !textOf('docs/outputs.md').includes(`\n| \`${name}\``))).toEqual([])
  })

  it('no example asks for a secret with the prompt of the browser, which shows it and blocks the page', () => {
    const shown = [...files].filter(([path]) => /^(?:docs|examples|site|src)\/|^README\.md$/.test(path))
    expect(shown.length).toBeGreaterThan(500)
    expect(shown.flatMap(([path, text]) => (/\bprompt\(/.test(text) ? [path] : []))).toEqual([])
  })

  it('the changelog speaks of this version', () => {
    expect(textOf('CHANGELOG.md')).toContain(manifest.version)
  })

  it('the changelog has one line of at most 160 characters per change, below Keep a Changelog headings', () => {
    const [, body = ''] = textOf('CHANGELOG.md').split(/^(?=## )/m)
    const lines = body.split('\n').slice(1)
    expect(lines.filter((line) => /^\s+\S/.test(line) || (line.startsWith('- ') && line.length > 160))).toEqual([])
    expect(
      lines.filter((line) => line.startsWith('### ') && !/^### (?:Added|Changed|Deprecated|Removed|Fixed|Security)$/.test(line)),
    ).toEqual([])
    // The same change twice, as when two branches are merged.
    expect(lines.filter((line, index) => line.startsWith('- ') && lines.indexOf(line) !== index)).toEqual([])
  })
})
