/** The user's side: a credential file that says where the secrets are, in a folder that nobody else can read. */
import { rmSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Auth, createAuth } from 'stac-auth'
import { credentialsFromFile, undiciTransport } from 'stac-auth/node'
import { TEST_CA } from '../../test/servers/harness.ts'
import type { Addresses } from './addresses.ts'
import { credentialsFor } from './credentials.ts'
import type { SecretName, Secrets } from './secrets.ts'

export interface User {
  /** Path of the credential file. */
  readonly file: string
  /** Path of the certificate of the authority that vouches for the servers. */
  readonly ca: string
  /** The library with the user's credentials; `typed` are the URLs that the user was given. */
  auth(...typed: string[]): Promise<Auth>
  /** The status of a URL asked for without anything. */
  bare(url: string): Promise<number>
  /** Removes the folder; the end of the process does it too. */
  forget(): void
}

/** Writes the credential file, and each secret into a file of its own. */
export async function createUser(addresses: Addresses, secrets: Secrets): Promise<User> {
  const folder = await mkdtemp(join(tmpdir(), 'stac-auth-demo-'))
  const forget = () => {
    process.off('exit', forget)
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', forget)
  const write = async (name: string, text: string) => writeFile(join(folder, name), text, { mode: 0o600, flag: 'wx' })
  await Promise.all(Object.entries(secrets).map(([name, secret]) => write(name, secret)))
  const credentials = credentialsFor(addresses, (name: SecretName) => ({ file: join(folder, name) }))
  await write('credentials.json', JSON.stringify({ version: 1, credentials }, null, 2))
  await write('ca.pem', TEST_CA)
  const file = join(folder, 'credentials.json')
  // No proxy of the environment stands between this process and itself.
  const transport = undiciTransport({ env: {}, ca: TEST_CA })
  return {
    file,
    ca: join(folder, 'ca.pem'),
    auth: async (...typed) => createAuth({ credentials: await credentialsFromFile(file), typed, transport }),
    bare: async (url) => {
      const response = await transport({ method: 'GET', url, headers: {} }, { allowPrivateNetwork: true })
      await response.discard()
      return response.status
    },
    forget,
  }
}
