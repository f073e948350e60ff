/** `lint --lsp` as editors start it: the built program, by JSON-RPC over its standard input and output. */
import { spawnSync } from 'node:child_process'
import { cp, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { lintText } from '../../src/lint/index.ts'
import { pageOf } from '../../src/lint/reporters/sarif.ts'
import { put, temporaryFolder } from './folder.ts'
import { openEditor } from './language-server.ts'
import { run } from './run.ts'

const EXTENSION = 'https://stac-extensions.github.io/authentication/v1.1.0/schema.json'
const KEY = { type: 'apiKey', name: 'x-api-key', in: 'header', description: 'From your account page.' }
const itemWith = (refs: unknown, schemes: object = { key: KEY, s3: { type: 's3' } }) => ({
  type: 'Feature',
  stac_version: '1.1.0',
  stac_extensions: [EXTENSION],
  id: 'scene',
  geometry: null,
  properties: { datetime: '2026-01-01T00:00:00Z', 'auth:schemes': schemes },
  links: [],
  assets: { data: { href: 'https://data.example/a.tif', 'auth:refs': refs } },
})

const folder = await temporaryFolder()
const path = (name: string) => join(folder, name)

describe('the lifecycle of the language server', () => {
  it('initialize names the abilities, and shutdown and exit end the process with code 0', async () => {
    const editor = await openEditor([], { greet: false })
    expect(await editor.initialize()).toMatchObject({
      serverInfo: { name: 'stac-auth' },
      capabilities: { textDocumentSync: { openClose: true, change: 2 }, hoverProvider: true },
    })
    await editor.shutdown()
    await editor.exit()
    expect(await editor.exitCode()).toBe(0)
    expect(editor.stderr).toBe('')
  })

  it('exit without shutdown ends the process with code 1, as does the end of its input', async () => {
    const [first, second] = await Promise.all([openEditor(), openEditor()])
    await first.exit()
    second.child.stdin?.end()
    expect([await first.exitCode(), await second.exitCode()]).toEqual([1, 1])
  })

  it('SIGTERM ends the process with code 143', async () => {
    const editor = await openEditor()
    editor.child.kill('SIGTERM')
    expect(await editor.exitCode()).toBe(143)
  })

  it('a malformed message does not end the server', async () => {
    const editor = await openEditor()
    editor.child.stdin?.write('Content-Length: 9\r\n\r\n{not JSON')
    editor.child.stdin?.write('Content-Length: 38\r\n\r\n{"jsonrpc":"2.0","method":"no/method"}')
    const document = editor.open(path('after.json'), itemWith(['kye']))
    expect(await document.findings()).toMatchObject([{ code: 'dangling-ref' }])
  })

  it.each(['file://host/a.json', 'file:///a%2Fb.json', 'file:///%E0%A4%A.json', 'untitled://1'])('%s is linted', async (uri) => {
    expect(await (await openEditor()).open(uri, itemWith(['kye'])).findings()).toMatchObject([{ code: 'dangling-ref' }])
  })

  it('a document without a text does not end the server', async () => {
    const editor = await openEditor()
    await editor.connection.sendNotification('textDocument/didOpen', {
      textDocument: { uri: 'file:///a.json', languageId: 'json', version: 1 },
    })
    expect(await editor.open(path('beside.json'), itemWith(['kye'])).findings()).toMatchObject([{ code: 'dangling-ref' }])
  })

  it('inputs and options that a server does not have are refused', async () => {
    expect(await run(['lint', '--lsp', 'a.json'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--lsp takes no inputs') })
    expect(await run(['lint', '--lsp', '--format', 'json=x'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--lsp and --format exclude each other'),
    })
  })

  it('without the optional packages the error has the command that installs them', async () => {
    const project = await temporaryFolder()
    const dist = fileURLToPath(new URL('../../dist', import.meta.url))
    await cp(dist, join(project, 'dist'), { recursive: true })
    await cp(fileURLToPath(new URL('../../package.json', import.meta.url)), join(project, 'package.json'))
    await mkdir(join(project, 'node_modules'))
    const modules = fileURLToPath(new URL('../../node_modules', import.meta.url))
    for (const name of ['commander', 'tldts', 'tldts-core'])
      await cp(join(modules, name), join(project, 'node_modules', name), { recursive: true })
    const { status, stderr } = spawnSync(process.execPath, [join(project, 'dist/cli/bin.js'), 'lint', '--lsp'], { encoding: 'utf8' })
    expect(stderr).toContain('npm install vscode-languageserver vscode-languageserver-textdocument')
    expect(status).toBe(4)
  })
})

/** One server for documents with names of their own. */
const shared = openEditor()

describe('findings in an editor', () => {
  it('a finding has its code, severity and exact range, in UTF-16 units and whatever ends the lines', async () => {
    const editor = await shared
    const text = JSON.stringify({ ...itemWith(['kye']), id: '🛰️ scene' }, undefined, 1)
    for (const [name, written] of [
      ['lf.json', text],
      ['crlf.json', text.replaceAll('\n', '\r\n')],
      ['cr.json', text.replaceAll('\n', '\r')],
      ['one-line.json', text.replaceAll('\n', '')],
      ['mark.json', `\ufeff${text.replaceAll('\n', '')}`],
    ] as const) {
      const document = editor.open(path(name), written)
      const [finding, ...others] = await document.findings()
      expect(others).toEqual([])
      expect(finding).toMatchObject({
        code: 'dangling-ref',
        source: 'stac-auth',
        severity: 1,
        message: expect.stringContaining('auth:refs names "kye", which auth:schemes does not define'),
      })
      expect(finding && document.textAt(finding.range)).toBe('"kye"')
    }
  })

  it('a finding leads to its part of the page of the rule, or to the extension as long as the documentation has no site', async () => {
    const editor = await shared
    const document = editor.open(path('case.json'), itemWith(['key'], { key: { ...KEY, in: 'headers' } }))
    expect(await document.findings()).toMatchObject([{ code: 'apikey-in', codeDescription: { href: pageOf('field-value', 'apikey-in') } }])
  })

  it('incremental changes are linted together, and a closed document has no findings', async () => {
    const editor = await shared
    const document = editor.open(path('changed.json'), itemWith(['key']))
    expect(await document.findings()).toEqual([])
    const before = editor.count(document.uri)
    for (const [from, to] of ['key', 'ke', 'kex', 'kexy'].map((name, index, all) => [`["${name}"]`, `["${all[index + 1] ?? 'no'}"]`]))
      document.replace(
        `${from}`.replace('[', '[\n        ').replace(']', '\n      ]'),
        `${to}`.replace('[', '[\n        ').replace(']', '\n      ]'),
      )
    expect(await document.findings()).toMatchObject([{ code: 'dangling-ref' }])
    expect(editor.count(document.uri) - before).toBe(1)
    document.close()
    expect(await editor.published(({ uri, version }) => uri === document.uri && version === undefined)).toEqual([])
  })

  it.each([
    ['package.json', '{ "name": "x", "auth": 1 }'],
    ['settings.json', '{ // comment\n "a": 1, }'],
    ['broken.json', '{ "a": '],
    ['points.geojson', '{ "type": "FeatureCollection", "features": [] }'],
    ['empty.json', ''],
  ])('%s is not STAC and has no findings', async (name, text) => {
    const editor = await openEditor(['--preset', 'strict'])
    expect(await editor.open(path(name), text).findings()).toEqual([])
  })

  it('a STAC document that is not JSON has the error of its syntax', async () => {
    const editor = await shared
    const document = editor.open(path('syntax.json'), '{\n  "stac_version": "1.1.0",\n  "id" "x"\n}')
    expect(await document.findings()).toMatchObject([{ code: 'not-json', range: { start: { line: 2, character: 7 } } }])
  })

  it('each line of an NDJSON file is a document', async () => {
    const editor = await shared
    const lines = [itemWith(['key']), itemWith(['kye'])].map((item) => JSON.stringify(item)).join('\n')
    const document = editor.open(path('items.ndjson'), `${lines}\n`)
    expect(await document.findings()).toMatchObject([{ code: 'dangling-ref', range: { start: { line: 1 } } }])
  })

  it('a document with more mistakes than an editor shows has a thousand findings, errors first', async () => {
    const editor = await openEditor(['--preset', 'strict', '--rule', 'dangling-ref=warn'])
    const features = Array.from({ length: 3000 }, (_, index) => ({ ...itemWith(['kye']), id: `scene-${index}` }))
    const last = itemWith(['key'], { key: { ...KEY, in: 'headers' } })
    const document = editor.open(path('huge.json'), { type: 'FeatureCollection', stac_version: '1.1.0', features: [...features, last] })
    expect(document.text.length).toBeGreaterThan(2_000_000)
    const found = await document.findings()
    expect(found).toHaveLength(1000)
    expect(found[0]).toMatchObject({ severity: 1 })
    document.replace('"scene-0"', '"scene"')
    expect(await document.findings()).toHaveLength(1000)
  })

  it('a document beyond the size limit has one finding', async () => {
    const editor = await shared
    const document = editor.open(path('too-large.json'), { ...itemWith(['kye']), 'x:text': 'x'.repeat(6 * 2 ** 20) })
    expect(await document.findings()).toMatchObject([{ code: 'document-limit', range: { start: { line: 0, character: 0 } } }])
  })
})

describe('quick fixes', () => {
  it('each applied code action leaves a document with one finding less, and in the end with none', async () => {
    const editor = await shared
    const item = { ...itemWith('key', { key: { ...KEY, in: 'headers' } }), stac_extensions: [] }
    const document = editor.open(path('fixed.json'), item)
    for (let left = (await document.findings()).length; left > 0; left--) {
      const findings = await document.findings()
      expect(findings).toHaveLength(left)
      const [action] = await document.actions(findings.slice(0, 1))
      if (!action) throw new Error(`no action for ${findings[0]?.code}`)
      expect(action).toMatchObject({ kind: 'quickfix', diagnostics: findings.slice(0, 1) })
      document.apply(action)
    }
    expect(lintText(document.text)).toEqual([])
  })

  it('a safe fix is preferred and says what it changes, a suggestion says that it needs a review', async () => {
    const editor = await shared
    const safe = editor.open(path('safe.json'), itemWith('key'))
    expect(await safe.actions(await safe.findings())).toMatchObject([
      { title: 'Fix refs-shape: replace "key" with ["key"]', isPreferred: true },
    ])
    const suggestion = editor.open(path('suggestion.json'), itemWith(['kye']))
    expect(await suggestion.actions(await suggestion.findings())).toMatchObject([
      { title: 'Fix dangling-ref: replace "kye" with "key" (suggestion, needs a review)', isPreferred: false },
    ])
  })

  it('fixing on save applies all safe fixes in one edit, and no suggestion', async () => {
    const editor = await shared
    const document = editor.open(path('on-save.json'), {
      ...itemWith('key'),
      assets: {
        data: { href: 'https://data.example/a.tif', 'auth:refs': 'key' },
        more: { href: 'https://data.example/b.tif', 'auth:refs': ['kye', 's3', 's3'] },
      },
    })
    await document.findings()
    expect(await document.actions([], ['refactor'])).toEqual([])
    const [action, ...others] = await document.actions([], ['source.fixAll'])
    expect(others).toEqual([])
    document.apply(action as never)
    expect(JSON.parse(document.text).assets).toMatchObject({ data: { 'auth:refs': ['key'] }, more: { 'auth:refs': ['kye', 's3'] } })
  })

  it('a file that lint never changes has no fixes', async () => {
    const editor = await shared
    const document = editor.open(path('fixed.ndjson'), `${JSON.stringify(itemWith('key'))}\n`)
    const findings = await document.findings()
    expect(findings).toHaveLength(1)
    expect(await document.actions(findings)).toEqual([])
  })
})

describe('names of schemes', () => {
  const textOf = (hover: unknown) => (hover as { contents: { value: string } } | null)?.contents.value

  it('hovering over a scheme or a reference says what explain says of the target', async () => {
    const file = await put(folder, 'hover.json', itemWith(['key']))
    const { stdout } = await run(['explain', file, '--json'], { env: { XDG_CONFIG_HOME: folder } })
    const [target] = JSON.parse(stdout)
    const { message, hint } = target.refs[0]
    const editor = await shared
    const document = editor.open(file, itemWith(['key']))
    const expected = ['key (apiKey)', 'From your account page.', message, hint].join('\n\n')
    expect(message).toContain('no credential for https://data.example')
    expect(textOf(await document.hover('"key"'))).toBe(expected)
    expect(textOf(await document.hover('"auth:refs": [\n        "key'))).toBe(expected)
    expect(await document.hover('"x-api-key"')).toBeNull()
  })

  it('hovering over an undefined name says so, and a scheme that nothing refers to has its description only', async () => {
    const editor = await shared
    const document = editor.open(path('undefined.json'), itemWith(['kye']))
    expect(textOf(await document.hover('"kye"'))).toContain('"kye" is not defined in auth:schemes (did you mean "key"?)')
    expect(textOf(await document.hover('"key"'))).toBe('key (apiKey)\n\nFrom your account page.')
  })

  it('the text of a hover is not formatted, and hides nothing', async () => {
    const editor = await shared
    const description = '[free](command:evil) \u202e'
    const document = editor.open(path('hostile.json'), itemWith(['key'], { key: { ...KEY, description } }))
    const hover = await document.hover('"key"')
    expect(hover).toMatchObject({ contents: { kind: 'plaintext', value: expect.stringContaining('\\u{202e}') } })
  })

  it('auth:refs are completed with the schemes of the document that are not there yet', async () => {
    const editor = await shared
    const document = editor.open(path('complete.json'), itemWith(['key', '']))
    const items = await document.complete('"key",\n        "')
    expect(items).toMatchObject([{ label: 's3', detail: 's3' }])
    document.accept(items?.[0] as never)
    expect(JSON.parse(document.text).assets.data['auth:refs']).toEqual(['key', 's3'])
    expect(await document.findings()).toEqual([])
  })

  it.each([
    ['[]', '[', '["key"]'],
    ['["k]', '["k', '["key"]'],
    ['["k', '["k', '["key"'],
    ['["s3", ]', '["s3", ', '["s3", "key"]'],
    ['["s3", "k"]', '["s3", "k', '["s3", "key"]'],
  ])('completion works while the list is written: %s', async (written, before, after) => {
    const editor = await shared
    const document = editor.open(path('written.json'), JSON.stringify(itemWith('HERE')).replace('"HERE"', written))
    const items = await document.complete(`"auth:refs":${before}`)
    const [name] = items?.filter(({ label }) => label === 'key') ?? []
    document.accept(name as never)
    expect(document.text).toContain(`"auth:refs":${after}`)
  })

  it('the schemes around an item in a list are proposed too, and nothing outside of auth:refs', async () => {
    const editor = await shared
    const list = { type: 'FeatureCollection', 'auth:schemes': { outer: KEY }, features: [itemWith([''], { key: KEY })] }
    const document = editor.open(path('list.json'), JSON.stringify(list))
    const items = await document.complete('"auth:refs":["')
    expect(items?.map(({ label }) => label).sort()).toEqual(['key', 'outer'])
    expect(await document.complete('"features":[')).toEqual([])
    expect(await document.complete('"auth:refs":[""')).toEqual([])
  })

  it('references of a scheme are completed with the other schemes of its map', async () => {
    const editor = await shared
    const schemes = { key: KEY, signed: { type: 'signedUrl', 'auth:refs': [''] } }
    const document = editor.open(path('chain.json'), JSON.stringify(itemWith(['signed'], schemes)))
    expect((await document.complete('"auth:refs":["'))?.map(({ label }) => label)).toEqual(['key'])
  })
})

describe('the configuration of the language server', () => {
  it('a changed configuration is read again, and an invalid one changes nothing but says so', async () => {
    const config = await put(folder, 'lint.json', {})
    const editor = await openEditor(['--config', config])
    const document = editor.open(path('configured.json'), itemWith(['kye']))
    expect(await document.findings()).toHaveLength(1)
    await writeFile(path('new.json'), JSON.stringify({ rules: { 'dangling-ref': 'warn' } }))
    await rename(path('new.json'), config)
    const isOf = (severity: number) => editor.published(({ diagnostics }) => diagnostics[0]?.severity === severity)
    expect(await isOf(2)).toHaveLength(1)
    await writeFile(config, '{ "rules": { "dangling-reff": "off" } }')
    await editor.until(() => editor.shown.length > 0)
    expect(editor.shown[0]).toContain('unknown rule "dangling-reff"')
    await rm(config)
    await writeFile(config, JSON.stringify({ rules: { 'dangling-ref': 'info' } }))
    expect(await isOf(3)).toHaveLength(1)
  })

  it('a configuration that is invalid at first is read when it is corrected', async () => {
    const config = await put(folder, 'wrong.json', '{')
    const editor = await openEditor(['--config', config])
    const document = editor.open(path('later.json'), itemWith(['kye']))
    await editor.until(() => editor.shown.length > 0)
    await writeFile(config, '{}')
    expect(await document.findings()).toHaveLength(1)
  })
})
