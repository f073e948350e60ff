import type { Auth, Target } from 'stac-auth'
import { sha256 } from '../archive.ts'
import type { Holding } from '../holdings.ts'
import type { Servers } from '../servers.ts'
import { refusalOf, type Step } from '../step.ts'
import { table } from '../table.ts'

const COLUMNS = ['asset', 'scheme', 'credential', 'requests', 'status', 'bytes', 'ms'] as const

/** Every file comes through the library, byte by byte as the server has it. */
export const fetchStep: Step = {
  title: 'fetch',
  async run({ targets, user, servers }) {
    const auth = await user.auth(servers.root)
    const failures: string[] = []
    const rows: string[][] = []
    let bytes = 0
    for (const { label, target, holding } of targets) {
      const refusal = await refusalOf(async () => {
        const got = await measured(target, holding, auth, servers)
        rows.push([label, holding.title, holding.credential, ...[got.requests, got.status, got.bytes].map(String), got.ms.toFixed(1)])
        bytes += got.bytes
        if (!got.right) failures.push(`${label}: ${got.status}, and the bytes are not those of the file`)
      })
      if (refusal) failures.push(`${label}: ${refusal.code} ${refusal.message}`)
    }
    const right = targets.length - failures.length
    return { summary: `${right} of ${targets.length} files with the right SHA-256, ${bytes} bytes`, lines: table(COLUMNS, rows), failures }
  },
}

async function measured(target: Target, { href }: Holding, auth: Auth, servers: Servers) {
  const before = servers.requests()
  const start = performance.now()
  const response = await auth.fetch(target)
  const content = new Uint8Array(await response.arrayBuffer())
  return {
    ms: performance.now() - start,
    requests: servers.requests() - before,
    status: response.status,
    bytes: content.byteLength,
    right: sha256(content) === servers.digestAt(href),
  }
}
