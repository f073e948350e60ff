/** A small service for the tests of what all services have in common. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { type RawAnswer, type RawOptions, rawRequest } from './raw-request.ts'
import { jsonReply } from './reply.ts'
import type { ServiceDefinition } from './service-definition.ts'
import type { Service } from './start-service.ts'

/** Things that may be listed, made and read; every operation leaves its name in the list that is given. */
export function things(performed: string[]): ServiceDefinition {
  return {
    routes: [
      { op: 'list', method: 'GET', path: '/things' },
      { op: 'create', method: 'POST', path: '/things' },
      { op: 'read', method: 'GET', path: '/things/{id}' },
    ],
    credentialOf: ({ authorization }) => authorization,
    perform({ route, params, body }) {
      performed.push(String(route.op))
      return jsonReply(200, { op: route.op, ...params, text: body.toString() })
    },
    failure: (status, message) => jsonReply(status, { message }),
    forbiddenHeaders: ['x-api-key', 'cookie'],
    longestUrl: 200,
  }
}

/** Fields that every request needs. */
export const AGENT = { 'user-agent': 'test' }

/** Sends a request with these fields. */
export function ask(service: Service, method: string, path: string, options: RawOptions = {}): Promise<RawAnswer> {
  return rawRequest(method, service.url + path, { headers: AGENT, ...options })
}

/** Sends bytes as they are and gives all that comes back. */
export async function exchange(service: Service, text: string): Promise<string> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1', () => socket.write(text))
  let answer = ''
  socket.on('data', (bytes) => {
    answer += bytes
  })
  await once(socket, 'close')
  return answer
}
