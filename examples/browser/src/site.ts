/** What the owner of the site has set up: it is of this origin and can be relied on, unlike catalogs. */

export interface Sample {
  readonly title: string
  readonly url: string
  readonly about: string
}

/** This page as a provider of logins knows it. */
export interface Client {
  readonly issuer: string
  readonly clientId: string
  readonly scopes: readonly string[]
}

export interface SiteSettings {
  readonly samples: readonly Sample[]
  readonly clients: readonly Client[]
  /** Origins that may be loopback or private, as if the person had typed them. */
  readonly local: readonly string[]
  /** A service worker with a token of the site, and the URLs that it opens. */
  readonly worker?: { readonly script: string; readonly covers: string }
}

const NOTHING: SiteSettings = { samples: [], clients: [], local: [] }

/** `/site.json`; a site without that file has no settings. */
export async function readSite(): Promise<SiteSettings> {
  const response = await fetch('/site.json')
  return response.ok ? { ...NOTHING, ...((await response.json()) as Partial<SiteSettings>) } : NOTHING
}
