/** A signing API in the two documented shapes; whoever asks must be somebody. */
import { type Answer, type AnsweringServer, type Inquiry, jsonAnswer, startAnswering } from './answering-server.ts'
import type { Guard } from './guards.ts'
import type { UrlSigner } from './url-signer.ts'

export interface SigningServerOptions {
  readonly signer: UrlSigner
  /** Where the objects lie, without a slash at the end; nothing else is signed. */
  readonly objects: string
  /** Who may ask for `GET /get/sign?href=…`. */
  readonly get: Guard
  /** Who may ask for `POST /post/sign` with `bucket` and `key`, or `url`. */
  readonly post: Guard
}

/** Starts the API: GET answers `{ href, expires }`, POST answers `{ signed_url }`. */
export function startSigningServer({ signer, objects, get, post }: SigningServerOptions): Promise<AnsweringServer> {
  const signed = (address: string | undefined, answer: (signed: ReturnType<UrlSigner['sign']>) => object) =>
    address?.startsWith(`${objects}/`) ? jsonAnswer(200, answer(signer.sign(address))) : jsonAnswer(404, { detail: 'no such object' })
  const routes: Readonly<Record<string, (request: Inquiry) => Answer>> = {
    'GET /get/sign': (request) =>
      get(request) ?? signed(request.query.get('href') ?? undefined, ({ url, expires }) => ({ href: url, expires: expires.toISOString() })),
    'POST /post/sign': (request) => {
      const refusal = post(request)
      if (refusal) return refusal
      if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) return { status: 415 }
      const asked = jsonObject(request.body)
      return asked ? signed(addressIn(asked, objects), ({ url }) => ({ signed_url: url })) : { status: 400 }
    },
  }
  return startAnswering((request) => {
    const route = `${request.method} ${request.path}`
    return Object.hasOwn(routes, route) ? (routes[route]?.(request) ?? { status: 404 }) : { status: 404 }
  })
}

function addressIn({ url, bucket, key }: Readonly<Record<string, unknown>>, objects: string): string | undefined {
  if (typeof url === 'string') return url
  return typeof bucket === 'string' && typeof key === 'string' ? `${objects}/${bucket}/${key}` : undefined
}

function jsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
