/** What the page's own server answers: the built files under a strict policy, the site's settings, and a token for its service worker. */
import { randomBytes } from 'node:crypto'
import { type Answer, type Inquiry, jsonAnswer } from '../../../test/servers/answering-server.ts'
import { sameText } from '../../../test/servers/guards.ts'
import type { BuiltFile } from '../../browser/build.ts'
import type { SiteAddresses } from './item.ts'

export interface PageSettings extends SiteAddresses {
  /** Further origins that the page may ask. */
  readonly more: readonly string[]
  readonly clientId: string
  readonly siteToken: string
}

/** Answers for files by path, `/site.json`, and `POST /session/token` for whoever has the site's session. */
export function pageAnswers(files: ReadonlyMap<string, BuiltFile>, settings: PageSettings): (request: Inquiry) => Answer {
  const session = randomBytes(24).toString('base64url')
  const headers = {
    'content-security-policy': policyFor(settings),
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cross-origin-opener-policy': 'same-origin-allow-popups',
  }
  return (request) => {
    const { method, path } = request
    if (path === '/session/token') return tokenFor(request, session, settings)
    if (method !== 'GET' && method !== 'HEAD') return { status: 405, headers: { allow: 'GET, HEAD' } }
    if (path === '/site.json') return jsonAnswer(200, siteFor(settings), headers)
    const file = files.get(path === '/' ? '/index.html' : path)
    if (!file) return { status: 404, headers }
    const cookie = path === '/' && { 'set-cookie': `site=${session}; Path=/session/; HttpOnly; SameSite=Strict` }
    return { status: 200, headers: { ...headers, ...cookie, 'content-type': file.type }, body: file.body }
  }
}

/** Nothing runs or is shown that the site did not give, except pictures of the archive that its service worker answers. */
function policyFor({ catalog, archive, issuer, evil, more }: PageSettings): string {
  // The stranger is among them: it is not this policy that keeps secrets from it.
  const asked = [catalog, archive, issuer, evil, ...more]
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' data: blob: ${archive}`,
    `connect-src 'self' https: ${asked.join(' ')}`,
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ')
}

/** What the owner of the site has set up; nothing in it is secret. */
function siteFor({ catalog, archive, issuer, evil, more, clientId }: PageSettings): object {
  const sample = (title: string, path: string, about: string) => ({ title, url: `${catalog}/${path}`, about })
  return {
    samples: [
      sample('Meridian archive', 'catalog.json', 'The whole catalog'),
      sample('Lake', 'scenes/lake.json', 'Log in as anybody'),
      sample('Coast', 'scenes/coast.json', 'Opens with a key; the terminal shows it'),
      sample('Delta', 'scenes/delta.json', 'The site has a session for its preview'),
      sample('Climate', 'models/climate.json', 'A Zarr array behind the same key'),
      sample('Fields', 'models/fields.json', 'A Parquet table behind a password'),
      sample('Meridian API', 'api', 'Search by day and by the part of the map'),
      sample('Look-alike', 'suspicious/look-alike.json', 'What must not work'),
    ],
    clients: [{ issuer, clientId, scopes: ['offline_access', 'read'] }],
    local: [catalog, archive, issuer, evil, ...more],
    worker: { script: `/worker.js?archive=${encodeURIComponent(`${archive}/pictures/`)}`, covers: `${archive}/pictures/` },
  }
}

/** Only the site itself, in a browser that has opened it, is given the token. */
function tokenFor({ method, headers }: Inquiry, session: string, { siteToken }: PageSettings): Answer {
  if (method !== 'POST') return { status: 405, headers: { allow: 'POST' } }
  const [, given = ''] = /(?:^|; )site=([^;]*)/.exec(headers.cookie ?? '') ?? []
  if (headers['sec-fetch-site'] !== 'same-origin' || !sameText(given, session)) return { status: 403 }
  return { status: 200, headers: { 'content-type': 'text/plain', 'cache-control': 'no-store' }, body: siteToken }
}
