/** Answers the cases of this folder with stac-auth: `python3 run.py --codes -- node stac-auth.mjs`. */
import { createInterface } from 'node:readline'
import { createAuth, targetsOf } from 'stac-auth'
import { lintText } from 'stac-auth/lint'

const kinds = { authorize, lint }

for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line)
  console.log(JSON.stringify({ id: question.id, ...(await kinds[question.kind](question)) }))
}

function lint({ text }) {
  return { findings: lintText(text, { preset: 'strict' }).map(({ code, pointer, severity }) => ({ code, pointer, severity })) }
}

async function authorize({ document, url, target: pointer, credentials, now, network = [] }) {
  const replies = network.map(({ response }) => response)
  const sent = []
  const transport = async ({ method, url: requested, headers, body }) => {
    sent.push({
      method,
      url: requested,
      headers: Object.fromEntries(new Headers(headers)),
      body: body === undefined ? undefined : String(body),
    })
    return responseOf(requested, replies.shift() ?? { status: 404 })
  }
  try {
    const auth = createAuth({ credentials, transport, ...(now && { clock: { now: () => Date.parse(now) } }) })
    const target = [...targetsOf(document, { url })].find((one) => one.pointer === pointer)
    const request = await auth.authorize(target)
    return { sent, credential: request.credential, request: { method: request.method, url: request.url, headers: request.headers } }
  } catch (error) {
    return { sent, refused: error.code ?? String(error) }
  }
}

/** What the library's transports return, made of a reply that is written in the case. */
function responseOf(url, { status, headers = {}, json }) {
  const text = json === undefined ? '' : JSON.stringify(json)
  return {
    status,
    url,
    headers: new Headers({ 'content-type': 'application/json', ...headers }),
    text: async () => text,
    bytes: async () => new TextEncoder().encode(text),
    discard: async () => {},
  }
}
