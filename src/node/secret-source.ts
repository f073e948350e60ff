import { isAbsolute, join } from 'node:path'
import type { SecretSource } from '../auth/credential.ts'
import { loadKeyring } from './keyring.ts'
import { readRegularFile } from './regular-file.ts'
import { runSecretCommand } from './secret-command.ts'
import { promptSecret } from './secret-prompt.ts'
import { MAX_SECRET_BYTES, secretText, sourceError } from './secret-text.ts'
import { HOME_HINT, homeFolder } from './user-folder.ts'

/** Where the operating system's secret store keeps ours. */
const KEYRING_SERVICE = 'stac-auth'

/**
 * A function that reads a secret from its source at the first call and remembers it; simultaneous calls share one reading, a failed one
 * may be tried again.
 *
 * Errors: `CREDENTIAL_SOURCE` naming the source and what to do, never what it gave; `ABORTED` when a prompt is left.
 */
export function secretSource(source: SecretSource): () => Promise<string> {
  let reading: Promise<string> | undefined
  return () => {
    reading ??= read(source).catch((error) => {
      reading = undefined
      throw error
    })
    return reading
  }
}

async function read(source: SecretSource): Promise<string> {
  if ('env' in source) return fromEnvironment(source.env)
  if ('file' in source) return fromFile(source.file)
  if ('command' in source) return runSecretCommand(source.command)
  if ('keyring' in source) return fromKeyring(source.keyring)
  return promptSecret(source.prompt)
}

function fromEnvironment(name: string): string {
  const value = process.env[name]
  if (value === undefined)
    throw sourceError(`the environment variable ${name} is not set`, `set ${name} in the environment of this program`)
  return value
}

async function fromFile(name: string): Promise<string> {
  const path = /^~[/\\]/.test(name) ? join(homeOf(name), name.slice(2)) : name
  if (!isAbsolute(path))
    throw sourceError(`the secret file ${name} is named by a relative path`, 'write an absolute path, or one that starts with ~/')
  const file = await readRegularFile(path, MAX_SECRET_BYTES)
  if ('problem' in file)
    throw sourceError(`the secret file ${name} ${file.problem}`, `it must hold the secret alone, at most ${MAX_SECRET_BYTES} bytes`)
  return secretText(file.bytes, `the secret file ${name}`)
}

/** Errors: `CREDENTIAL_SOURCE`. */
function homeOf(name: string): string {
  const home = homeFolder()
  if (home === undefined) throw sourceError(`the secret file ${name} is in a home folder, and there is none`, HOME_HINT)
  return home
}

async function fromKeyring(account: string): Promise<string> {
  const { Entry } = await loadKeyring()
  let secret: string | null
  try {
    secret = new Entry(KEYRING_SERVICE, account).getPassword()
  } catch {
    throw sourceError(
      `the keyring cannot be read for the account "${account}"`,
      'unlock it, or name another source, such as { "file": "~/path" }',
    )
  }
  if (secret === null) throw sourceError(`the keyring has no entry for the service "${KEYRING_SERVICE}" and the account "${account}"`)
  return secret
}
