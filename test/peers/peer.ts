/** Starts and stops the servers of `scripts/`. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What a peer says about itself, or why it is not there. */
export type Peer<Facts> = { readonly facts: Facts; stop(): Promise<void> } | { readonly missing: string }

/** The exit code of a script whose packages cannot be installed. */
const UNAVAILABLE = 69
const START_TIMEOUT = 120_000

/** Starts a peer. One that cannot be installed is missing, unless `PEERS=required`: then it is an error like any other. */
export async function startPeer<Facts>(name: string): Promise<Peer<Facts>> {
  const script = fileURLToPath(new URL(`scripts/${name}.sh`, import.meta.url))
  const folder = await mkdtemp(join(tmpdir(), `peer-${name}-`))
  const { code, stdout, stderr } = await run(script, folder, 'start')
  const stop = async () => {
    await run(script, folder, 'stop')
    await rm(folder, { recursive: true, force: true })
  }
  if (code === 0) return { facts: JSON.parse(stdout), stop }
  await stop()
  const missing = `${name} did not start (exit ${code}): ${stderr.trim()}`
  if (code !== UNAVAILABLE || process.env.PEERS === 'required') throw new Error(missing)
  return { missing }
}

function run(script: string, ...args: readonly string[]) {
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile('bash', [script, ...args], { timeout: START_TIMEOUT }, (error, stdout, stderr) =>
      resolve({ code: error ? error.code : 0, stdout, stderr }),
    )
  })
}
