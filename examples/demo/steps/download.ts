import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DownloadOptions, download } from 'stac-auth/node'
import { sha256 } from '../archive.ts'
import type { Protected } from '../reading.ts'
import type { Servers } from '../servers.ts'
import type { Step } from '../step.ts'

/** Every file goes into a folder, byte by byte as the server has it; a second run keeps them all and asks for nothing. */
export const downloadStep: Step = {
  title: 'download',
  async run({ targets, user, servers }) {
    const folder = await mkdtemp(join(tmpdir(), 'stac-auth-demo-files-'))
    const options = { folder, auth: await user.auth(servers.root), template: '{id}/{key}-{name}' }
    try {
      const failures = await wrongFiles(targets, options, servers)
      const before = servers.requests()
      let kept = 0
      for await (const event of download(inputs(targets), options)) if (event.kind === 'kept') kept++
      const again = servers.requests() - before
      if (kept !== targets.length || again > 0) failures.push(`the second run kept ${kept} files and made ${again} requests`)
      const right = targets.length - failures.length
      return {
        summary: `${right} of ${targets.length} files written with the right SHA-256; the second run made ${again} requests`,
        failures,
      }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
}

function inputs(targets: readonly Protected[]) {
  return targets.map(({ target }) => target)
}

async function wrongFiles(targets: readonly Protected[], options: DownloadOptions, servers: Servers): Promise<string[]> {
  const failures: string[] = []
  for await (const event of download(inputs(targets), options)) {
    if (event.kind === 'failed') failures.push(`${event.file.name}: ${event.error.code} ${event.error.message}`)
    if (event.kind !== 'written') continue
    const { holding } = targets[event.file.number - 1] ?? {}
    const isRight = holding && sha256(await readFile(event.file.path)) === servers.digestAt(holding.href)
    if (!isRight) failures.push(`${event.file.name}: the bytes are not those of the file`)
  }
  return failures
}
