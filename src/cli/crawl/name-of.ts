import { forUrl } from '../../text/sanitize.ts'
import { nameOfFile } from './files.ts'

/** What a document of a crawl is called in reports. */
export function nameOf(url: string): string {
  return url.startsWith('file:') ? nameOfFile(url) : forUrl(url)
}
