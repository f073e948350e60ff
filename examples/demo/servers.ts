/** The demo's servers: an archive, the catalog that describes it, and a host that wants what it must not have. */
import { type AnsweringServer, jsonAnswer, startAnswering } from '../../test/servers/answering-server.ts'
import { type ServedFile, startProtectedFiles } from '../../test/servers/protected-files.ts'
import type { Addresses } from './addresses.ts'
import { type Archive, STARTERS, startArchive } from './archive.ts'
import { documentsFor } from './documents.ts'
import { type Holding, holdingsAt } from './holdings.ts'
import type { Secrets } from './secrets.ts'

export interface Servers extends Archive {
  readonly holdings: readonly Holding[]
  /** URL of the root of the catalog. */
  readonly root: string
  /** A host that nobody trusts. It takes everything it is given and remembers it; `/copy.json` places an asset there. */
  readonly evil: AnsweringServer
}

/** Starts all servers on free ports of 127.0.0.1. */
export async function startServers(secrets: Secrets, start: typeof STARTERS = STARTERS): Promise<Servers> {
  const archive = await startArchive(secrets, start)
  const holdings = holdingsAt(archive.addresses)
  const catalog = await startProtectedFiles(published(documentsFor(holdings, archive.addresses)))
  const evil = await startEvil(holdings, archive.addresses)
  return {
    ...archive,
    holdings,
    root: `${catalog.origin}/catalog.json`,
    evil,
    close: async () => {
      await Promise.all([archive, catalog, evil].map((server) => server.close()))
    },
  }
}

function published(documents: Readonly<Record<string, object>>): Readonly<Record<string, ServedFile>> {
  const type = 'application/json'
  return Object.fromEntries(
    Object.entries(documents).map(([path, document]) => [path, { content: JSON.stringify(document, null, 2), type }]),
  )
}

function startEvil([holding]: readonly Holding[], addresses: Addresses): Promise<AnsweringServer> {
  const copies = documentsFor(holding ? [{ ...holding, href: '/copy.bin' }] : [], addresses)
  const copy = copies[`/items/${holding?.name}.json`]
  return startAnswering(({ path }) => (path === '/copy.json' ? jsonAnswer(200, copy) : { status: 200, body: 'thank you' }))
}
