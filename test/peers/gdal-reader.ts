/** Opens assets with GDAL as the documentation says: the printed lines become the environment, and nothing else is set. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ShellUser } from './shell-user.ts'

const withLines = (command: string) => `lines=$(stac-auth authorize "$@" --as gdal --reveal) &&
while IFS= read -r line; do export "$line"; done <<END && ${command}
$lines
END`

/** The SHA-256 of all pixels of the asset `data`, row by row, or what is said instead; `more` are further arguments of `authorize`. */
export async function readWithGdal(user: ShellUser, item: string, ...more: readonly string[]): Promise<string> {
  const script = withLines('gdal_translate -q -of ENVI "$GDAL_PATH" pixels')
  const { code, stderr } = await user.sh(script, item, '--asset', 'data', ...more)
  return code === 0 ? sha256(await readFile(join(user.folder, 'pixels'))) : `${code}: ${stderr}`
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** What a GDAL program prints about an asset; its command line finds `$GDAL_PATH`. */
export async function askGdal(user: ShellUser, item: string, command: string): Promise<string> {
  const { code, stdout, stderr } = await user.sh(withLines(command), item, '--asset', 'data')
  if (code !== 0) throw new Error(stderr)
  return stdout.toString()
}
