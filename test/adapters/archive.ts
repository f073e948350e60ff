/** An archive on loopback whose files need a key in a header of its own, which every client carries along through redirects by itself. */
import type { Auth } from '../../src/auth/auth.ts'
import { createAuth } from '../../src/auth/create-auth.ts'
import { assetOf, type Target } from '../../src/stac/target.ts'
import { found, item, type Json, scheme } from '../harness/documents.ts'
import { type AnsweringServer, startAnswering } from '../servers/answering-server.ts'
import { partOf } from '../servers/byte-range.ts'
import { keyGuard } from '../servers/guards.ts'

export const KEY = 'right-key-of-the-archive'

export interface Archive {
  readonly origin: string
  readonly guarded: AnsweringServer
  /** Gives the same files to everybody; nothing may be told to it. */
  readonly stranger: AnsweringServer
  /** An engine whose key may go to the archive, or to that origin instead. */
  engine(key?: string, origin?: string): Auth
  /** An asset with that address, below `/files` (guarded), `/moved` (leads to the stranger) or wherever. */
  target(href: string): Target
  /** The Item with that asset. */
  document(href: string, members?: Json): Json
  close(): Promise<void>
}

export type Files = Readonly<Record<string, string | Uint8Array>>

/** Starts it with files by name. A file that is not there is 404, with the key; HEAD is refused as for addresses that are signed for GET. */
export async function startArchive(files: Files): Promise<Archive> {
  const guard = keyGuard('header', 'x-archive-key', KEY)
  const give = (name: string, range: string | undefined) => {
    const file = Object.hasOwn(files, name) ? files[name] : undefined
    return file === undefined ? { status: 404 } : (partOf(file, range) ?? { status: 416 })
  }
  const stranger = await startAnswering(({ path, headers }) => give(path.slice('/files/'.length), headers.range))
  const guarded = await startAnswering((request) => {
    const { path, headers, method } = request
    const refusal = guard(request)
    if (refusal) return refusal
    if (method !== 'GET') return { status: 403 }
    if (path.startsWith('/moved/')) return { status: 302, headers: { location: stranger.origin + path.replace('/moved/', '/files/') } }
    return give(path.slice('/files/'.length), headers.range)
  })
  const { origin } = guarded
  const document = (href: string, members: Json = {}) =>
    item({ k: scheme.key('x-archive-key') }, { data: { href, 'auth:refs': ['k'], ...members } })
  return {
    origin,
    guarded,
    stranger,
    engine: (value = KEY, granted = origin) =>
      createAuth({
        credentials: [{ id: 'key', type: 'apiKey', in: 'header', name: 'x-archive-key', value, sendTo: `${granted}/` }],
        typed: [stranger.origin],
      }),
    document,
    target: (href) => found(assetOf(document(href), 'data', { url: `${origin}/item.json` })),
    close: async () => {
      await Promise.all([guarded.close(), stranger.close()])
    },
  }
}
