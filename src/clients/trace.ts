/** The identifier under which the owners of a service find a request in their logs. */
export function traceOf(headers: { get(name: string): string | null }): string | undefined {
  return headers.get('x-trace-id') ?? headers.get('x-request-id') ?? undefined
}
