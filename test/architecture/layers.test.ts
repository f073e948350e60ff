import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { codeFiles } from './files.ts'
import { importsOf } from './imports.ts'
import { ENTRIES, FOLDERS, folderIn, importCycles, LAYERS, layerOf, layerViolations } from './layers.ts'

describe('layers', () => {
  const files = codeFiles('src')

  it('layers hold in every file of src', () => {
    expect(files.length).toBeGreaterThan(20)
    expect(files.flatMap(({ path, text }) => layerViolations(path, text))).toEqual([])
  })

  it('layers are all in use, so that the table says what is there', () => {
    const used = new Set(files.map(({ path }) => layerOf(path)))
    expect(Object.keys(LAYERS).filter((layer) => !used.has(layer))).toEqual([])
  })

  it('the entries that the command line may import are all in use', () => {
    const imported = files.filter(({ path }) => layerOf(path) === 'cli').flatMap(({ path, text }) => importedBy(path, text))
    expect(
      Object.values(ENTRIES)
        .flat()
        .filter((entry) => !imported.includes(entry)),
    ).toEqual([])
  })

  it.each(Object.entries(FOLDERS))('the folders of %s are all in their table, and each may import only some above it', (layer, folders) => {
    const names = Object.keys(folders)
    const used = new Set(files.filter(({ path }) => layerOf(path) === layer).map(({ path }) => folderIn(layer, path)))
    expect([...used].sort()).toEqual([...names].sort())
    expect(names.filter((name, index) => folders[name]?.some((other) => !names.slice(0, index).includes(other)))).toEqual([])
  })
})

function importedBy(path: string, text: string): readonly string[] {
  return importsOf(text).map(({ specifier = '' }) => posix.join(posix.dirname(path), specifier))
}

describe('the imports of src', () => {
  it('form no cycle, types and import() aside', () => {
    expect(importCycles(codeFiles('src'))).toEqual([])
  })

  it('the imports of src are searched for cycles of any length', () => {
    const file = (name: string, text: string) => ({ path: `src/${name}.ts`, text })
    const cycle = [
      file('a', "import './b.ts'"),
      file('b', "export { c } from './folder/c.ts'"),
      file('folder/c', "import { a } from '../a.ts'"),
    ]
    const outside = [file('d', "import './a.ts'\nimport './e.ts'"), file('e', "import type { D } from './d.ts'\nawait import('./d.ts')")]
    const own = file('own', "import './own.ts'")
    expect(importCycles([...outside, ...cycle, own])).toEqual([['src/a.ts', 'src/b.ts', 'src/folder/c.ts'], ['src/own.ts']])
    expect(importCycles(cycle.slice(1))).toEqual([])
  })
})

describe('the layer check', () => {
  const refused: readonly (readonly [path: string, text: string, reason: RegExp])[] = [
    ['src/stac/item.ts', "import { a } from '../auth/select.ts'", /stac may not import auth/],
    ['src/http/origin.ts', "export { a } from '../stac/scheme.ts'", /http may not import stac/],
    ['src/http/origin.ts', "import type { A } from '../auth/auth.ts'", /http may not import auth/],
    ['src/http/origin.ts', "type A = import('../auth/auth.ts').Auth", /http may not import auth/],
    ['src/auth/select.ts', "import { apiKey } from '../strategies/api-key.ts'", /auth may not import strategies/],
    ['src/auth/select.ts', "import { strategies } from '../strategies/index.ts'", /auth may not import strategies/],
    ['src/auth/create-auth.ts', "import { apiKey } from '../strategies/api-key.ts'", /auth may not import strategies/],
    ['src/lint/lint.ts', "const a = await import('../auth/create-auth.ts')", /lint may not import auth/],
    ['src/lint/lint.ts', "import { sha256Hex } from '#platform'", /may not import #platform/],
    ['src/lint/lint.ts', 'import "ajv"', /package ajv/],
    ['src/outputs/curl.ts', "import { oneLeg } from '../strategies/oauth2.ts'", /outputs may not import strategies/],
    ['src/outputs/curl.ts', "import { readFile } from 'node:fs/promises'", /package node:fs/],
    ['src/auth/create-auth.ts', "const { request } = await import('undici')", /package undici/],
    ['src/strategies/s3/s3.ts', "import { apiKey } from '../api-key.ts'", /s3 may not import the strategy api-key/],
    ['src/strategies/s3/sigv4.ts', "import { token } from '../oauth2/token.ts'", /s3 may not import the strategy oauth2/],
    ['src/strategies/http/basic.ts', "import { token } from '../oauth2/token.ts'", /http may not import the strategy oauth2/],
    ['src/strategies/open-id-connect.ts', "import { basic } from './http/basic.ts'", /open-id-connect may not import the strategy http/],
    [
      'src/strategies/credential-values.ts',
      "import { bearer } from './http/bearer.ts'",
      /credential-values may not import the strategy http/,
    ],
    ['src/strategies/http/basic.ts', "import type { None } from 'openid-client'", /package openid-client/],
    ['src/strategies/oauth2/token.ts', "const c = await import('openid-client')", /loads all of it/],
    ['src/strategies/oauth2/token.ts', "import { None } from './library.ts'", /only be loaded when it is needed/],
    ['src/strategies/oauth2/token.ts', "import * as client from 'openid-client'", /only be loaded when it is needed/],
    ['src/platform/web.ts', "import { createHash } from 'node:crypto'", /package node:crypto/],
    ['src/strategies/s3/s3.ts', "import { a } from '../../platform/platform.ts'", /strategies may not import platform/],
    ['src/platform/web.ts', "import { a } from '../node/transport.ts'", /platform may not import node/],
    ['src/index.ts', "export { a } from './node/index.ts'", /index may not import node/],
    ['src/index.ts', "export { main } from './cli/main.ts'", /index may not import cli/],
    ['src/node/index.ts', "import { main } from '../cli/main.ts'", /node may not import cli/],
    ['src/node/index.ts', "import { Command } from 'commander'", /package commander/],
    ['src/node/index.ts', "import { Entry } from '@napi-rs/keyring'", /only be loaded when it is needed/],
    ['src/node/base/files.ts', "import { a } from '../tokens/token-files.ts'", /node\/base may not import node\/tokens/],
    ['src/node/credentials/netrc.ts', "import type { A } from '../tokens/token-files.ts'", /node\/credentials may not import node\/tokens/],
    ['src/node/download/file-download.ts', "const a = await import('../queue/index.ts')", /node\/download may not import node\/queue/],
    ['src/node/gateway/gateway.ts', "import { a } from '../index.ts'", /node\/gateway may not import node\/\*/],
    ['src/cli/io.ts', "import { a } from './lint/linter.ts'", /cli\/\* may not import cli\/lint/],
    ['src/cli/download/run.ts', "import type { A } from '../commands/download.ts'", /cli\/download may not import cli\/commands/],
    ['src/cli/credentials/add.ts', "const a = await import('../login.ts')", /cli\/credentials may not import cli\/login.ts/],
    ['src/browser/index.ts', "import { apiKey } from '../strategies/api-key.ts'", /browser may not import strategies/],
    ['src/cli/io.ts', "import { systemCode } from '../node/base/system-error.ts'", /cli imports the inside of node/],
    ['src/cli/download/run.ts', "const a = await import('../../node/download/download-run.ts')", /cli imports the inside of node/],
    ['src/cli/main.ts', "import { item } from '../../fixtures/item.ts'", /outside src/],
    ['src/cli/main.ts', 'const a = await import(name)', /computed/],
    ['src/node/index.ts', "const name: string = 'left-pad'; const a = await import(name)", /package left-pad/],
    ['src/node/index.ts', "let name = 'undici'; const a = await import(name)", /computed/],
    ['src/cli/main.ts', "const a = require('left-pad')", /package left-pad/],
    ['src/services/client/call.ts', "import { createAuth } from '../../auth/create-auth.ts'", /services may not import auth/],
    ['src/services/client/api-client.ts', "import { select } from '../../auth/select.ts'", /services may not import auth/],
    ['src/services/client/call.ts', "import type { Choice } from '../../strategies/index.ts'", /services may not import strategies/],
    ['src/extras/a.ts', "import '../errors.ts'", /in no layer/],
  ]
  it.each(refused)('refuses in %s: %s', (path, text, reason) => {
    expect(layerViolations(path, `\n${text}`)).toEqual([expect.stringMatching(reason)])
    expect(layerViolations(path, `\n${text}`)[0]).toMatch(new RegExp(`^${path}:2 `))
  })

  const allowed: readonly (readonly [path: string, text: string])[] = [
    ['src/auth/create-auth.ts', "import { strategies } from '../strategies/index.ts'"],
    ['src/auth/session.ts', "import platform from '#platform'"],
    ['src/strategies/s3/s3.ts', "import type { HmacKey } from '../../platform/platform.ts'"],
    ['src/strategies/s3/s3.ts', "import { reveal } from '../credential-values.ts'"],
    ['src/services/client/call.ts', "import type { Auth } from '../../auth/auth.ts'"],
    ['src/services/client/api-client.ts', "import { createAuth } from '../../auth/create-auth.ts'"],
    ['src/strategies/s3/s3.ts', "import { sign } from './sigv4.ts'"],
    ['src/strategies/index.ts', "import { apiKey } from './api-key.ts'"],
    ['src/strategies/open-id-connect.ts', "import { token } from './oauth2/token.ts'"],
    ['src/strategies/oauth2/token.ts', "const client = await import('./library.ts')"],
    ['src/strategies/oauth2/library.ts', "export { None } from 'openid-client'"],
    ['src/strategies/oauth2/token.ts', "import type { Configuration } from 'openid-client'"],
    ['src/platform/node.ts', "import { createHash } from 'node:crypto'"],
    ['src/cli/main.ts', "import { Command } from 'commander'"],
    ['src/cli/commands/login.ts', "import { a } from '../login.ts'"],
    ['src/cli/io.ts', "import { systemCode } from '../node/base/index.ts'"],
    ['src/node/tokens/token-redis.ts', "import { a } from '../credentials/secret-source.ts'"],
    ['src/node/index.ts', "export { a } from './queue/index.ts'"],
    ['src/node/download/file-download.ts', "import { a } from './destination/destination.ts'"],
  ]
  it.each(allowed)('allows in %s: %s', (path, text) => {
    expect(layerViolations(path, text)).toEqual([])
  })

  it('sees every way to import, and reports types from values', () => {
    const text = `
      import 'a'
      import { b } from 'b'
      import type { C } from 'c'
      import { type D } from 'd'
      export { e } from 'e'
      export type { F } from 'f'
      const g = await import('g')
      type H = import('h').H
      const i = require('i')
      // import 'j'
      const k = "import 'k'"
      import { type L, m } from 'l'`
    expect(importsOf(text).map(({ specifier, kind }) => `${specifier} ${kind}`)).toEqual([
      'a static',
      'b static',
      'c type',
      'd type',
      'e static',
      'f type',
      'g dynamic',
      'h type',
      'i static',
      'l static',
    ])
  })
})
