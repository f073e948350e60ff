/** What a file server answers to a range (RFC 9110 §14). */

export interface Part {
  readonly status: 200 | 206
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** The part of a file, or the whole where the range is absent or not understood; undefined when the file is shorter (416). */
export function partOf(content: string | Uint8Array, range: string | undefined): Part | undefined {
  const body = typeof content === 'string' ? Buffer.from(content) : Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  const headers = { 'accept-ranges': 'bytes' }
  const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(range ?? '') ?? []
  if (from === undefined || (from === '' && to === '')) return { status: 200, headers, body }
  const start = from === '' ? Math.max(0, body.length - Number(to)) : Number(from)
  const end = from === '' || to === '' ? body.length - 1 : Math.min(Number(to), body.length - 1)
  if (start > end) return undefined
  const bounds = { 'content-range': `bytes ${start}-${end}/${body.length}` }
  return { status: 206, headers: { ...headers, ...bounds }, body: body.subarray(start, end + 1) }
}
