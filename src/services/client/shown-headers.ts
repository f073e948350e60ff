/** Headers whose values are nobody's secret. */
const HARMLESS = [
  'accept',
  'accept-encoding',
  'allow',
  'cache-control',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'date',
  'etag',
  'last-modified',
  'range',
  'retry-after',
  'retry-after-ms',
  'server',
  'user-agent',
  'vary',
  'x-request-id',
  'x-trace-id',
]

/** The harmless headers of an answer, by name. */
export function shownHeaders(headers: { get(name: string): string | null }, scrub: (text: string) => string): Record<string, string> {
  const shown: Record<string, string> = {}
  for (const name of HARMLESS) {
    const value = headers.get(name)
    if (value !== null) shown[name] = scrub(value)
  }
  return shown
}

/** All names of a request's headers; `[secret]` in the place of what is not harmless. */
export function shownRequestHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, HARMLESS.includes(name) ? value : '[secret]']))
}

/** The identifier under which the owners of a service find a request in their logs. */
export function traceOf(headers: { get(name: string): string | null }): string | undefined {
  return headers.get('x-trace-id') ?? headers.get('x-request-id') ?? undefined
}
