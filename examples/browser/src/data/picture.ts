import { type Auth, ProtocolError, type Target } from 'stac-auth'
import { element } from '../dom.ts'
import { textIn } from '../fields.ts'

export interface Picture {
  readonly image: HTMLImageElement
  /** Gives its memory back. */
  free(): void
}

/**
 * The picture behind an asset, loaded. By the site's service worker it is loaded by its URL alone, and no script here sees a token;
 * else the engine sends. Errors: those of `fetch`, `HTTP_<status>`, `MEDIA_TYPE_UNSUPPORTED`.
 */
export async function pictureFrom(target: Target, auth: Auth, byWorker: boolean): Promise<Picture> {
  const alt = textIn(target.object, 'title') ?? 'Preview'
  if (byWorker) {
    if (!navigator.serviceWorker.controller)
      throw new ProtocolError('UNSUPPORTED_IN_BROWSER', 'the service worker of this site is not in charge yet; reload the page')
    return { image: await loaded(new URL(target.href, target.scope.url).href, alt), free: () => {} }
  }
  const response = await auth.fetch(target)
  if (!response.ok) throw new ProtocolError(`HTTP_${response.status}`, `the server answers ${response.status}`)
  const url = URL.createObjectURL(await response.blob())
  const free = () => URL.revokeObjectURL(url)
  try {
    return { image: await loaded(url, alt), free }
  } catch (error) {
    free()
    throw error
  }
}

async function loaded(src: string, alt: string): Promise<HTMLImageElement> {
  const image = element('img', { src, alt })
  try {
    await image.decode()
  } catch {
    throw new ProtocolError('MEDIA_TYPE_UNSUPPORTED', 'this is no picture that a browser can show, or it did not come')
  }
  return image
}
