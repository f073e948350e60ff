import type { SiteSettings } from './site.ts'

/** Starts the service worker of the site and waits until it is in charge; where the browser has none, pictures of the site stay closed. */
export async function startWorker({ worker }: SiteSettings): Promise<void> {
  if (!worker || !('serviceWorker' in navigator)) return
  const address = trusted(worker.script)
  try {
    await navigator.serviceWorker.register(address, { type: 'classic' })
  } catch {
    // So do browsers that keep nothing.
    return
  }
  await navigator.serviceWorker.ready
  if (navigator.serviceWorker.controller || sessionStorage.getItem(RELOADED)) return
  // It takes care of pages that are loaded after it only.
  sessionStorage.setItem(RELOADED, 'true')
  location.reload()
}

const RELOADED = 'catalog-browser:reloaded'

interface Policies {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string }
}

/** A URL of this origin, in the form that browsers want for scripts under `require-trusted-types-for`. */
function trusted(script: string): string {
  const url = new URL(script, location.href)
  if (url.origin !== location.origin) throw new TypeError('the service worker must be of this origin')
  const { trustedTypes } = globalThis as { readonly trustedTypes?: Policies }
  return trustedTypes?.createPolicy('catalog-browser', { createScriptURL: () => url.href }).createScriptURL(url.href) ?? url.href
}
