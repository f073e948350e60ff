/** Redacts authorized requests. Secrets are located by structure, because a text search would miss encoded forms. */
import type { AuthorizedRequest } from '../auth/auth.ts'
import { forLine, forUrl } from '../text/sanitize.ts'

export interface OutputOptions {
  /** Shows secrets. Default: secret headers are `[secret]`, and query values of a secret URL are `…`. */
  readonly reveal?: boolean
}

/** The printable parts of a request, each on one line without control characters. */
export interface Shown {
  readonly method: string
  readonly url: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body?: string
}

/** Placeholder in commands and files while secrets are hidden: no shell, parser or program accepts it. */
export const HIDDEN = '<secrets are hidden: use --reveal>'

/** Returns true if the output contains `[secret]` or `…`. Such output must not be usable, or the placeholder would be sent. */
export function isRedacted({ secretIn, keys }: AuthorizedRequest, { reveal = false }: OutputOptions = {}): boolean {
  return !reveal && (secretIn.url || secretIn.headers.length > 0 || keys !== undefined)
}

/** Returns lines of a file for a program; while secrets are hidden they are comments. */
export function settingLines(lines: readonly string[], request: AuthorizedRequest, options?: OutputOptions): string {
  return (isRedacted(request, options) ? [HIDDEN, ...lines].map((line) => `# ${line}`) : lines).join('\n')
}

/** Returns the value of a secret that is not in headers or URL, or `[secret]`. */
export function secretText(secret: string, { reveal = false }: OutputOptions = {}): string {
  return reveal || secret === '' ? forLine(secret) : '[secret]'
}

/** Returns the printable request: secret header values and a secret URL are hidden unless `reveal` is set. */
export function shown(request: AuthorizedRequest, { reveal = false }: OutputOptions = {}): Shown {
  const secret = new Set(reveal ? [] : request.secretIn.headers.map((name) => name.toLowerCase()))
  const headers = Object.entries(request.headers).map(
    ([name, value]) => [forLine(name), secret.has(name.toLowerCase()) ? '[secret]' : forLine(value)] as const,
  )
  const url = request.secretIn.url && !reveal ? forUrl(request.url) : forLine(request.url)
  return { method: forLine(request.method), url, headers, ...(request.body !== undefined && { body: bodyText(request.body) }) }
}

function bodyText(body: string | Uint8Array): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body)
}
