/** A file server that gives nothing away before the guard of the file has said yes. */
import { type Answer, type AnsweringServer, type Certified, type Inquiry, startAnswering } from './answering-server.ts'
import { partOf } from './byte-range.ts'
import type { Guard } from './guards.ts'

export interface ServedFile {
  readonly content: string | Uint8Array
  /** Absent for a file that anybody may read. The headers of a 200 go along with the file. */
  readonly guard?: Guard
  /** Media type; default `application/octet-stream`. */
  readonly type?: string
}

/** Serves files by path, whole or in part, to GET and HEAD. */
export function startProtectedFiles(files: Readonly<Record<string, ServedFile>>, certified?: Certified): Promise<AnsweringServer> {
  return startAnswering(protectedFiles(files), certified)
}

/** What such a server answers. */
export function protectedFiles(files: Readonly<Record<string, ServedFile>>): (request: Inquiry) => Answer {
  return (request) => answerTo(request, Object.hasOwn(files, request.path) ? files[request.path] : undefined)
}

function answerTo(request: Inquiry, file: ServedFile | undefined): Answer {
  if (!file) return { status: 404 }
  if (request.method !== 'GET' && request.method !== 'HEAD') return { status: 405, headers: { allow: 'GET, HEAD' } }
  const answer = file.guard?.(request)
  if (answer && answer.status !== 200) return answer
  const part = partOf(file.content, request.headers.range)
  if (!part) return { status: 416 }
  return { ...part, headers: { ...answer?.headers, ...part.headers, 'content-type': file.type ?? 'application/octet-stream' } }
}
