/** Requests of `node:http` alone: what a server really answers, without any client in between. */
import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request as open } from 'node:http'

/** An answer that came whole. */
export interface RawAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  readonly text: string
  /** Nothing when the text is no JSON. */
  readonly json: unknown
}

export interface RawOptions {
  /** A list goes out with its duplicates. */
  readonly headers?: OutgoingHttpHeaders | readonly string[]
  readonly body?: string | Uint8Array
  readonly agent?: Agent
}

/** Sends one request, on a connection of its own unless an agent is given; rejects when the answer does not come whole. */
export function rawRequest(method: string, url: string, { headers = {}, body, agent }: RawOptions = {}): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const once = new Agent({ keepAlive: false, maxSockets: 1 })
    const { hostname, port } = new URL(url)
    // The path goes out as it was written: an address would be made tidy.
    const path = url.slice(url.indexOf('/', 8))
    const request = open({ hostname, port, path, method, headers: headers as OutgoingHttpHeaders, agent: agent ?? once }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const bytes = Buffer.concat(chunks)
        const text = bytes.toString()
        resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes, text, json: jsonOf(text) })
      })
    })
    request.on('error', reject)
    request.end(body)
  })
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
