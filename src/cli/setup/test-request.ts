/** One small request for each scheme, and its result in words. */
import type { Auth } from '../../auth/auth.ts'
import { type AuthError, isAuthError } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { bareAddress } from '../../http/url.ts'
import { answerFailure } from '../../node/transport/index.ts'
import { headline, hintLines } from '../../text/sanitize.ts'
import type { AnsweredScheme } from '../credentials/missing-credentials.ts'
import { quoted } from '../credentials/question.ts'
import type { Style } from '../io.ts'
import { bytesText } from '../units.ts'

/** A target, the credential that opens it, and the name of what is tested. */
export type Tested = Pick<AnsweredScheme, 'credential' | 'name' | 'target'>

/** The result of a request. */
export interface TestResult {
  readonly scheme: Tested
  /** The response of the server, in words. */
  readonly answer?: string
  readonly error?: AuthError
}

/** Requests the first byte of the first target of a scheme with its credential. Errors: `ABORTED`. */
export async function testOf(scheme: Tested, auth: Auth, signal: AbortSignal): Promise<TestResult> {
  const { target } = scheme
  try {
    const response = await auth.send(target, { headers: { range: 'bytes=0-0' }, signal })
    const { status, headers, url } = response
    // 416: the file is empty.
    const isThere = (status >= 200 && status < 300) || status === 416
    const error = isThere ? undefined : await answerFailure(response, target)
    await response.discard()
    return error ? { scheme, error } : { scheme, answer: answerText(status, headers, url) }
  } catch (error) {
    if (!isAuthError(error) || error.code === 'ABORTED') throw error
    return { scheme, error }
  }
}

function answerText(status: number, headers: HttpResponse['headers'], url: string): string {
  const total = /\/(\d+)$/.exec(headers.get('content-range') ?? '')?.[1] ?? (status === 200 ? headers.get('content-length') : undefined)
  const size = total === undefined || total === null ? '' : `, ${bytesText(Number(total))}`
  return `works: ${bareAddress(url)} answered ${status}${size}`
}

/** Formats a result, with what to do about a failure. */
export function testText({ scheme, answer, error }: TestResult, style: Style): string {
  const { credential, name } = scheme
  const who = credential === name ? quoted(name) : `${quoted(credential)} for ${quoted(name)}`
  if (!error) return `  ${style.green(style.tick)} ${who} ${answer}\n`
  const { code, message, hint } = error
  return [`  ${style.red(style.cross)} ${who} fails: ${headline({ code, message })}`, ...hintLines(hint, '      '), ''].join('\n')
}
