/** A protected file server, items that point at it, and the user who may read it. */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, vi } from 'vitest'
import { MANIFEST_NAME } from '../../../src/node/download/manifest.ts'
import { type Asking, type Fault, type FileServer, noise, type ServedContent, startFileServer } from '../../servers/file-server.ts'
import { put, temporaryFolder } from '../folder.ts'
import { itemWith } from '../items.ts'
import { run, type Surroundings } from '../run.ts'

export const TOKEN = 'right-right-right'
const SCHEMES = { token: { type: 'http', scheme: 'bearer' } }

/**
 * Serves noise below `/private/` to those who have the token, and below `/open/` to all; the name seeds it, `-5000.` in it is its length.
 * During each test `STAC_AUTH_TEST_TOKEN` is the token.
 */
export async function startArchive(faultOf?: (asking: Asking, n: number) => Fault | undefined): Promise<FileServer> {
  const content = ({ path }: Asking): ServedContent | undefined =>
    path.endsWith('.html')
      ? { bytes: Buffer.from('log in'), type: 'text/html' }
      : /-\d+\./.test(path)
        ? { bytes: contentOf(path) }
        : undefined
  const server = await startFileServer(
    (_, asking) => content(asking),
    (asking, n) =>
      asking.path.startsWith('/private/') && asking.authorization !== `Bearer ${TOKEN}`
        ? { status: 401, headers: { 'www-authenticate': 'Bearer' }, body: 'who are you?' }
        : faultOf?.(asking, n),
  )
  beforeEach(() => vi.stubEnv('STAC_AUTH_TEST_TOKEN', TOKEN))
  afterEach(() => {
    vi.unstubAllEnvs()
    expect(server.violations).toEqual([])
  })
  afterAll(() => server.close())
  return server
}

/** What the archive keeps under that name. */
export function contentOf(path: string): Buffer {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return noise(Number(/-(\d+)\./.exec(name)?.[1] ?? 0), name)
}

/** An asset of the archive, with all that may be promised about it. */
export function promised(href: string, more: object = {}): object {
  const bytes = contentOf(href)
  const checksum = `1220${createHash('sha256').update(bytes).digest('hex')}`
  return { href, 'auth:refs': ['token'], 'file:size': bytes.length, 'file:checksum': checksum, ...more }
}

/** An Item of that id with these assets. */
export function itemOf(id: string, assets: object, links: object[] = []): object {
  return { ...itemWith(assets, { schemes: SCHEMES, links }), id }
}

/** The credential file of a user with a token for the server. */
export function tokenFor({ origin }: Pick<FileServer, 'origin'>, folder: string, name = 'STAC_AUTH_TEST_TOKEN'): Promise<string> {
  const entry = { id: 'archive', type: 'http', scheme: 'bearer', token: { env: name }, sendTo: [`${origin}/`] }
  return put(folder, `credentials-${name}.json`, { version: 1, credentials: [entry] })
}

/** Runs `download` into a new folder. */
export async function downloaded(server: FileServer, argv: readonly string[], around: Surroundings & { readonly into?: string } = {}) {
  const folder = around.into ?? (await temporaryFolder())
  const credentials = await tokenFor(server, await temporaryFolder())
  const outcome = await run(['download', ...argv, '-d', folder, '--credentials', credentials], around)
  return { ...outcome, folder, files: await filesIn(folder) }
}

/** Everything in a folder by its path below it, but for its manifest. */
export async function filesIn(folder: string): Promise<Readonly<Record<string, Buffer>>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  const files = entries.filter((entry) => entry.isFile() && entry.name !== MANIFEST_NAME).map((entry) => join(entry.parentPath, entry.name))
  return Object.fromEntries(
    await Promise.all(files.sort().map(async (file) => [file.slice(folder.length + 1), await readFile(file)] as const)),
  )
}

/** The lines of `--json`. */
export function eventsIn({ stdout }: { readonly stdout: string }): readonly Record<string, unknown>[] {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}
