/** A service by the usual convention for resources: `/users` and `/users/{id}`, in JSON or XML. */
import { jsonReply, Refusal, type Reply } from '../service/reply.ts'
import type { ServiceDefinition, ServiceOptions } from '../service/service-definition.ts'
import type { ServiceRequest } from '../service/service-request.ts'
import { type Service, startService } from '../service/start-service.ts'
import { parseStrictJson } from '../service/strict-json.ts'
import { readXmlUser, writeXml } from './xml-user.ts'

export interface RestFakeOptions extends ServiceOptions {
  /** What stands behind `Bearer` and is accepted. */
  readonly accepts: (token: string) => boolean
}

export interface User {
  readonly id: number
  readonly name: string
}

export interface RestFake extends Service {
  readonly users: Map<string, User>
}

/** Starts the service on a free port of 127.0.0.1. */
export async function startRestFake({ accepts, ...options }: RestFakeOptions): Promise<RestFake> {
  const users = new Map<string, User>()
  const service = await startService(definition(users, accepts), options)
  return Object.assign(Object.create(service), { users })
}

type Format = 'json' | 'xml'

function definition(users: Map<string, User>, accepts: (token: string) => boolean): ServiceDefinition {
  let nextId = 1
  return {
    routes: [
      { op: 'list', method: 'GET', path: '/users' },
      { op: 'create', method: 'POST', path: '/users' },
      { op: 'get', method: 'GET', path: '/users/{id}' },
      { op: 'update', method: 'PUT', path: '/users/{id}' },
      { op: 'delete', method: 'DELETE', path: '/users/{id}' },
    ],
    credentialOf: ({ authorization }) => /^Bearer (\S+)$/.exec(authorization ?? '')?.[1],
    perform(request) {
      const { credential, params, route, headers } = request
      if (credential === undefined || !accepts(credential)) {
        throw new Refusal(jsonReply(401, { message: 'Unauthorized' }, { 'WWW-Authenticate': 'Bearer' }))
      }
      const format = formatOf(headers.accept)
      if (route.op === 'list') return written([...users.values()], format)
      if (route.op === 'create') {
        const user = { id: nextId++, name: nameIn(request) }
        users.set(String(user.id), user)
        const reply = written(user, format, 201)
        return { ...reply, headers: { ...reply.headers, Location: `/users/${user.id}` } }
      }
      const user = users.get(params.id ?? '') ?? refuse(404, `There is no user ${params.id}`)
      if (route.op === 'delete') {
        users.delete(String(user.id))
        return { status: 204 }
      }
      const changed = route.op === 'update' ? { ...user, name: nameIn(request) } : user
      users.set(String(user.id), changed)
      return written(changed, format)
    },
    failure: (status, message) => jsonReply(status, { message }),
    forbiddenHeaders: ['cookie', 'x-api-key', 'x-api-token'],
  }
}

/** The name in a body of JSON or XML. */
function nameIn({ headers, body }: ServiceRequest): string {
  const { name, ...others } = fieldsOf(headers['content-type'], body)
  if (Object.keys(others).some((field) => field !== 'id')) refuse(400, 'Unknown field')
  return typeof name === 'string' && name !== '' ? name : refuse(422, 'A name is required')
}

function fieldsOf(type: string | undefined, body: Buffer): Readonly<Record<string, unknown>> {
  const format = type?.split(';')[0]
  if (format !== 'application/json' && format !== 'application/xml')
    throw new Refusal(jsonReply(415, { message: 'Unsupported media type' }))
  try {
    const value: unknown = format === 'application/json' ? parseStrictJson(body) : readXmlUser(body.toString())
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch (error) {
    const message = `Not readable: ${error instanceof Error ? error.message : error}`
    throw new Refusal(jsonReply(400, { message }), message)
  }
  return refuse(400, 'Not an object')
}

function written(value: User | readonly User[], format: Format, status = 200): Reply {
  const plain = Array.isArray(value) ? value.map((user) => ({ ...user })) : { ...value }
  if (format === 'json') return jsonReply(status, plain)
  return { status, headers: { 'Content-Type': 'application/xml; charset=utf-8' }, body: writeXml(plain) }
}

/** The first format of an Accept field that is known; 406 for none. */
function formatOf(accept = '*/*'): Format {
  for (const range of accept.split(',').map((part) => part.split(';')[0]?.trim().toLowerCase())) {
    if (range === 'application/json' || range === '*/*' || range === 'application/*') return 'json'
    if (range === 'application/xml' || range === 'text/xml') return 'xml'
  }
  return refuse(406, 'JSON or XML')
}

function refuse(status: number, message: string): never {
  throw new Refusal(jsonReply(status, { message }))
}
