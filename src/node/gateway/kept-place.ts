/** Keeps port and capability of a gateway with a name, so that its URLs stay valid after a restart. */
import { dirname, join } from 'node:path'
import { ConfigurationError, IntegrityError } from '../../errors.ts'
import { isObject } from '../../stac/document.ts'
import { shellWord } from '../../text/shell-word.ts'
import { makeFolder } from '../base/files.ts'
import { readOwnFile, writeOwnFile } from '../base/own-file.ts'
import { writeFailure } from '../base/system-error.ts'
import { folderHint, folderVariables, userFolder } from '../base/user-folder.ts'

/** What the URLs of a gateway begin with. */
export interface KeptPlace {
  readonly port: number
  readonly capability: string
}

/** A safe file name on every system. */
const GATEWAY_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

const MAX_BYTES = 1024

/** Returns the path of the file of a name. Errors: `CONFIG_INVALID` for another name, and without a configuration folder. */
function pathOf(name: string): string {
  if (!GATEWAY_NAME.test(name))
    throw new ConfigurationError('CONFIG_INVALID', 'the name of a gateway has 1 to 64 letters, digits, "-" and "_"')
  const folder = userFolder('config', ['stac-auth', 'gateways'])
  if (folder !== undefined) return join(folder, `${name}.json`)
  throw new ConfigurationError(
    'CONFIG_INVALID',
    `there is no folder for gateways: neither ${folderVariables('config')} is an absolute path`,
    {
      hint: folderHint('config'),
    },
  )
}

/**
 * Returns the place of a name; undefined for a new name. Errors: `CONFIG_INVALID`, `FILE_ACCESS`; `CACHE_UNSAFE` for a file that other users
 * can read or that belongs to one.
 */
export async function keptPlace(name: string): Promise<KeptPlace | undefined> {
  const path = pathOf(name)
  const file = await readOwnFile(path, MAX_BYTES)
  if (!file) return undefined
  const place = parsed(file.bytes.toString())
  if (place) return place
  throw new IntegrityError('CACHE_UNSAFE', `"${path}" is damaged: it names no port and no capability`, { hint: `rm ${shellWord(path)}` })
}

function parsed(text: string): KeptPlace | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (!isObject(value)) return undefined
    const { port, capability } = value
    const isPort = typeof port === 'number' && Number.isInteger(port) && port > 0 && port < 65_536
    return isPort && typeof capability === 'string' && /^[0-9a-f]{32}$/.test(capability) ? { port, capability } : undefined
  } catch {
    return undefined
  }
}

/** Keeps the place of a name in a file that only the user can read. Errors: `CONFIG_INVALID`, `FILE_ACCESS`, `DISK_FULL`. */
export async function keepPlace(name: string, place: KeptPlace): Promise<void> {
  const path = pathOf(name)
  await makeFolder(dirname(path), 0o700).catch((error: unknown) => {
    throw writeFailure(error, `"${dirname(path)}"`)
  })
  await writeOwnFile(path, `${JSON.stringify(place)}\n`)
}
