/** A download of one document, and what came of it. */
import { readdir, readFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import type { DownloadEvent, DownloadInput, DownloadOptions, SummaryEvent } from '../../../src/node/download/download.ts'
import { download } from '../../../src/node/download/download.ts'
import { MANIFEST_NAME } from '../../../src/node/download/manifest.ts'
import { type FileServer, startFileServer } from '../../servers/file-server.ts'

export interface Result {
  readonly events: readonly DownloadEvent[]
  readonly summary: SummaryEvent
}

/** An Item with those assets. */
export function itemOf(server: Pick<FileServer, 'origin'>, assets: object, more: object = {}) {
  return { document: { type: 'Feature', id: 'one', properties: {}, assets, ...more }, url: `${server.origin}/item.json` }
}

/** Files of 4 MiB are requested as those of 64 MiB otherwise, in ranges of 1 MiB: internal settings, which are no options. */
export const SMALL_RANGES: object = { largeFrom: 4 * 2 ** 20, largestRange: 2 ** 20 }

/** Downloads into that folder, flat and without pauses unless told otherwise, and fails for anything that is thrown. */
export async function run(
  inputs: Iterable<DownloadInput> | AsyncIterable<DownloadInput>,
  options: Partial<DownloadOptions> & { readonly folder: string; readonly server?: Pick<FileServer, 'origin'> },
): Promise<Result> {
  const { server, ...given } = options
  const auth = createAuth({ credentials: [], typed: server ? [server.origin] : [] })
  const events: DownloadEvent[] = []
  for await (const event of download(inputs, { auth, template: '{name}', random: () => 0, progressInterval: 0, ...given }))
    events.push(event)
  const summary = events.at(-1)
  if (summary?.kind !== 'summary') throw new Error('there is no summary')
  return { events, summary }
}

/** The events of one kind. */
export function ofKind<K extends DownloadEvent['kind']>({ events }: Result, kind: K): readonly Extract<DownloadEvent, { kind: K }>[] {
  return events.filter((event): event is Extract<DownloadEvent, { kind: K }> => event.kind === kind)
}

/** The codes of the failures. */
export function codesOf(result: Result): readonly string[] {
  return ofKind(result, 'failed').map(({ error }) => error.code)
}

/** All files below a folder by their names, with their bytes, but for its manifest. */
export async function filesIn(folder: string): Promise<Readonly<Record<string, Buffer>>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile() && entry.name !== MANIFEST_NAME)
    .map(({ parentPath, name }) => join(parentPath, name))
  return Object.fromEntries(await Promise.all(files.map(async (path) => [path.slice(folder.length + 1), await readFile(path)] as const)))
}

/** What is in a folder, but for its manifest. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => name !== MANIFEST_NAME).sort()
}

/** A server of files for one test, which no correct client violates. */
export async function serveFiles(...given: Parameters<typeof startFileServer>): Promise<FileServer> {
  const server = await startFileServer(...given)
  onTestFinished(async () => {
    await server.close()
    expect(server.violations).toEqual([])
  })
  return server
}

/** A server for one test that answers by a function; returns its origin. */
export async function serveBy(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
