import type { Auth } from 'stac-auth'
import { type Given, requestsFor } from 'stac-auth/adapters/requests'

/**
 * Shows a film. A service worker of the page requests the parts that are played; without one, with a key that it does not have, and in Firefox the
 * page loads the whole file into memory.
 */
export function showFilm(video: HTMLVideoElement, auth: Auth, film: Given | undefined, onError: (error: unknown) => void) {
  const { url, fetch } = requestsFor(auth, film)
  const loadWhole = async () => {
    const response = await fetch(url)
    if (!response.ok) throw new Error(`${new URL(url).host} answered ${response.status}`)
    video.src = URL.createObjectURL(await response.blob())
  }
  video.addEventListener('error', () => loadWhole().catch(onError), { once: true })
  video.src = url
}
