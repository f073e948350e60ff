import type { Answer, Inquiry } from './answering-server.ts'

/** Whose pages may ask, and which headers of theirs. */
export interface Allowed {
  readonly origin: string
  readonly headers: string
}

type AnswerTo = (request: Inquiry) => Answer | Promise<Answer>

/** The same server for pages of another origin (Fetch standard, section 3.2): a header that was not allowed before is never sent. */
export function crossOrigin(answerTo: AnswerTo, { origin, headers }: Allowed): AnswerTo {
  const cors = { 'access-control-allow-origin': origin, 'access-control-expose-headers': 'content-range' }
  return async (request) => {
    const answer = request.method === 'OPTIONS' ? preflight(headers) : await answerTo(request)
    return { ...answer, headers: { ...answer.headers, ...cors } }
  }
}

function preflight(headers: string): Answer {
  return { status: 204, headers: { 'access-control-allow-headers': headers } }
}
