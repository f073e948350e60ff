/** The command `gateway`, as a process that tells programs where it is. */
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { ShellUser } from './shell-user.ts'

export interface GatewayProcess {
  /** With the capability, and a slash at the end. */
  readonly base: string
  readonly targets: readonly { readonly document: string; readonly key: string; readonly href: string; readonly url: string }[]
  /** Everything that was printed so far. */
  printed(): string
  /** Ends it; its exit code or signal. */
  stop(): Promise<unknown>
}

/** Starts a gateway for documents and waits until it is ready. */
export async function startGatewayProcess(user: ShellUser, ...argv: readonly string[]): Promise<GatewayProcess> {
  const child = user.start('gateway', ...argv, '--json')
  const printed: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => printed.push(String(chunk)))
  const ended = once(child, 'close')
  const early = ended.then(() => Promise.reject(new Error(`the gateway ended: ${printed.join('')}`)))
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), early])
  early.catch(() => undefined)
  return {
    ...(JSON.parse(String(line)) as { ready: Pick<GatewayProcess, 'base' | 'targets'> }).ready,
    printed: () => printed.join(''),
    stop: async () => {
      child.kill('SIGTERM')
      const [code, signal] = await ended
      return code ?? signal
    },
  }
}
