import { type Auth, ProtocolError, type Target } from 'stac-auth'
import { addressOf } from '../access.ts'
import { element } from '../dom.ts'

/** Loads the whole file and hands it to the browser to be kept: its length in bytes. Errors: those of `fetch`, `HTTP_<status>`. */
export async function download(auth: Auth, target: Target): Promise<number> {
  const response = await auth.fetch(target)
  if (!response.ok) throw new ProtocolError(`HTTP_${response.status}`, `the server answers ${response.status}`)
  const bytes = await response.blob()
  // What a stranger calls a page must not become one of this origin.
  const url = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }))
  element('a', { href: url, download: nameOf(target) }).click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
  return bytes.size
}

function nameOf(target: Target): string {
  const part = new URL(addressOf(target) ?? 'file:///file').pathname.split('/').filter(Boolean).at(-1) ?? ''
  return part.replace(/[^\w.-]+/g, '_') || 'file'
}
