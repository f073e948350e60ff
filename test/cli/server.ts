/** A server on the loopback address that wants a key for what it keeps, and tells what it was sent. */
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEveryFile } from '../setup/hooks.ts'

export const KEY = 'hunter2-hunter2'

export interface Server {
  /** With a slash at the end. */
  readonly origin: string
  /** What came in: path and key. */
  readonly requests: { readonly path: string; readonly key: string | undefined }[]
}

/** The servers of one test file. */
const open: HttpServer[] = []
afterEveryFile(() => {
  for (const server of open.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

export type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** Serves the answers by path; a path under `/private/` without the key is 401, an unknown path is 404. */
export async function serve(answers: Readonly<Record<string, Answer>>): Promise<Server> {
  const requests: { path: string; key: string | undefined }[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    const key = request.headers['x-api-key']
    requests.push({ path, key: typeof key === 'string' ? key : undefined })
    const answer = Object.hasOwn(answers, path) ? answers[path] : undefined
    if (path.startsWith('/private/') && key !== KEY) response.writeHead(401, { 'www-authenticate': 'ApiKey' }).end('who are you?')
    else if (answer) answer(request, response)
    else response.writeHead(404).end('nothing here')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push(server)
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, requests }
}

/** An answer with that body. */
export const body =
  (content: string | Uint8Array): Answer =>
  (_request, response) => {
    response.writeHead(200, { 'content-length': Buffer.byteLength(content) }).end(content)
  }
