/** Warns of responses that are not the promised files: programs report them as broken files, or not at all. */
import type { Warning } from '../../auth/strategy.ts'
import type { HttpResponse } from '../../http/message.ts'
import { bareAddress } from '../../http/url.ts'
import { nameInAddress } from '../../text/file-name.ts'
import { misfitOf, pageByType, promisedFile } from '../base/promised-file.ts'
import { contentRange } from './fields.ts'
import type { Routes } from './routes.ts'

/** Bytes of a first chunk that decide, although more follow. */
const ENOUGH = 64

export class FileWatch {
  readonly #routes: Pick<Routes, 'targetAt'>
  readonly #warn: (warning: Warning) => void
  /** URLs without query that were warned of. */
  readonly #told = new Set<string>()

  constructor(routes: Pick<Routes, 'targetAt'>, warn: (warning: Warning) => void = () => {}) {
    this.#routes = routes
    this.#warn = warn
  }

  /** Returns what is called with the first bytes of a response; undefined for one that does not begin a file. */
  readonly watch = (url: string, response: HttpResponse): ((head: Uint8Array) => void) | undefined => {
    const { status, headers } = response
    const isBeginning = status === 200 || (status === 206 && contentRange(headers.get('content-range'))?.first === 0)
    if (!isBeginning || headers.get('content-encoding') !== null || this.#told.has(bareAddress(url))) return undefined
    const target = this.#routes.targetAt(url)
    const promise = promisedFile(target, target ? [] : [nameInAddress(url)])
    const contentType = headers.get('content-type')
    return (head) => {
      const isAll = head.length >= Number(headers.get('content-length') ?? Number.POSITIVE_INFINITY)
      const judged = misfitOf(promise, head, isAll, contentType, response.sent?.())
      const misfit =
        pageByType(promise, contentType) ??
        (judged === 'more' && head.length >= ENOUGH ? misfitOf(promise, head, true, contentType, response.sent?.()) : judged)
      if (!misfit || misfit === 'more') return
      this.#told.add(bareAddress(url))
      const says = misfit.says === undefined ? '' : `. The server says: ${misfit.says}`
      const message = `${bareAddress(url)} is ${misfit.words}: the program gets it as it is${says}`
      this.#warn({ code: 'CONTENT_TYPE_UNEXPECTED', message, ...(target && { pointer: target.pointer }) })
    }
  }
}
