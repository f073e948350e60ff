/** Started with a port and a file for the clients: `@cloudflare/workers-oauth-provider` behind `node:http`, with its storage in memory. */
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { register } from 'node:module'

const [port, clientsFile] = process.argv.slice(2)
const origin = `http://127.0.0.1:${port}`

// The one module of the Workers runtime that the package names; a handler may be an object in its place.
const runtime = 'data:text/javascript,export class WorkerEntrypoint {}'
register(
  `data:text/javascript,${encodeURIComponent(`export const resolve = (name, context, next) =>
    name === 'cloudflare:workers' ? { url: ${JSON.stringify(runtime)}, shortCircuit: true } : next(name, context)`)}`,
)
const { OAuthProvider, getOAuthApi } = await import('@cloudflare/workers-oauth-provider')

/** Workers KV, as far as the package asks for it: values live as long as they are told to. */
class Storage {
  #values = new Map()

  #live(key) {
    const entry = this.#values.get(key)
    return entry && entry.until > Date.now() ? entry : undefined
  }

  async get(key, settings) {
    const entry = this.#live(key)
    if (!entry) return null
    return (settings?.type ?? settings) === 'json' ? JSON.parse(entry.value) : entry.value
  }

  async put(key, value, { expirationTtl, expiration, metadata } = {}) {
    const until = expirationTtl ? Date.now() + expirationTtl * 1000 : expiration ? expiration * 1000 : Number.POSITIVE_INFINITY
    this.#values.set(key, { value, metadata, until })
  }

  async delete(key) {
    this.#values.delete(key)
  }

  async list({ prefix = '' } = {}) {
    const names = [...this.#values.keys()].filter((name) => name.startsWith(prefix) && this.#live(name))
    return { keys: names.map((name) => ({ name, metadata: this.#live(name)?.metadata })), list_complete: true, cursor: undefined }
  }
}

const env = { OAUTH_KV: new Storage() }
const html = { 'content-type': 'text/html; charset=utf-8' }
const FORM = '<form method="post"><input name="username"><input name="password" type="password"><button name="decision" value="approve">'

/** The page where somebody logs in and consents; the library leaves it to its users. */
async function authorize(request, { OAUTH_PROVIDER: oauth }) {
  const asked = await oauth.parseAuthRequest(new Request(request.url))
  if (request.method !== 'POST') return new Response(FORM, { headers: html })
  const form = await request.formData()
  if (form.get('decision') !== 'approve') {
    const denied = new URL(asked.redirectUri)
    denied.search = new URLSearchParams({ error: 'access_denied', state: asked.state, iss: origin }).toString()
    return Response.redirect(denied, 302)
  }
  const [userId, password] = [form.get('username'), form.get('password')]
  if (userId !== 'alice' || password !== 'swordfish') return new Response(`Wrong password${FORM}`, { status: 401, headers: html })
  const { redirectTo } = await oauth.completeAuthorization({ request: asked, userId, metadata: {}, scope: asked.scope, props: { userId } })
  return Response.redirect(redirectTo, 302)
}

const options = {
  apiRoute: '/api/',
  apiHandler: { fetch: (_request, _env, context) => new Response(`file of ${context.props.userId}`) },
  defaultHandler: {
    async fetch(request, context) {
      if (new URL(request.url).pathname !== '/authorize') return new Response('not here', { status: 404 })
      try {
        return await authorize(request, context)
      } catch (error) {
        return new Response(String(error), { status: 400 })
      }
    },
  },
  authorizeEndpoint: '/authorize',
  tokenEndpoint: '/oauth/token',
  scopesSupported: ['read'],
  resourceMetadata: { resource: `${origin}/api`, authorization_servers: [origin] },
  allowTokenExchangeGrant: true,
}
const provider = new OAuthProvider(options)

async function answer(incoming, outgoing) {
  const chunks = []
  for await (const chunk of incoming) chunks.push(chunk)
  const headers = Object.entries(incoming.headersDistinct).flatMap(([name, values]) => values.map((value) => [name, value]))
  const body = chunks.length > 0 ? Buffer.concat(chunks) : undefined
  const request = new Request(`${origin}${incoming.url}`, { method: incoming.method, headers, body })
  const response = await provider.fetch(request, env, { waitUntil() {}, passThroughOnException() {}, props: {} })
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  outgoing.end(Buffer.from(await response.arrayBuffer()))
}

const clients = getOAuthApi(options, env)
const grantTypes = ['authorization_code', 'refresh_token']
const native = await clients.createClient({ redirectUris: ['http://127.0.0.1/callback'], tokenEndpointAuthMethod: 'none', grantTypes })
const secret = await clients.createClient({ redirectUris: ['http://127.0.0.1/callback'] })
await writeFile(clientsFile, JSON.stringify({ native: native.clientId, secret: { id: secret.clientId, secret: secret.clientSecret } }))

createServer((incoming, outgoing) => void answer(incoming, outgoing).catch(() => outgoing.destroy())).listen(Number(port), '127.0.0.1')
