import { channel } from 'node:diagnostics_channel'
import { awsKeys } from '../node/aws-keys.ts'
import { secretSource } from '../node/secret-source.ts'
import { shareSignal } from '../node/shared-signal.ts'
import { digest, hmacKey, sha256Hex } from './node-crypto.ts'
import type { Platform } from './platform.ts'

/** Node: undici, synchronous hashes, secrets from files, programs and the environment. */
export const platform: Platform = {
  defaultTransport: undici,
  connect: async (url, options) => (await undici()).connect(url, options),
  hidesHeaders: false,
  socket: async (granted) => {
    const { guardedSocket } = await import('../node/guarded-socket.ts')
    return guardedSocket(granted)
  },
  sha256Hex,
  digest,
  hmacKey,
  secretSource,
  s3Keys: awsKeys,
  channel,
  files: async () => {
    const { localFiles } = await import('../node/local-files.ts')
    return localFiles
  },
  shareSignal,
  securityContext: async (wanted) => {
    const { kerberosContext } = await import('../node/kerberos.ts')
    return kerberosContext(wanted)
  },
}

async function undici() {
  const { undiciTransport } = await import('../node/undici-transport.ts')
  return undiciTransport()
}
