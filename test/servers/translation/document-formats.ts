import { codePoints } from './fields.ts'

const MB = 1_000_000
const OFFICE = 'application/vnd.openxmlformats-officedocument'

/** Media types of documents by their extension. */
export const DOCUMENT_TYPES: Readonly<Record<string, string>> = {
  doc: 'application/msword',
  docx: `${OFFICE}.wordprocessingml.document`,
  pptx: `${OFFICE}.presentationml.presentation`,
  xlsx: `${OFFICE}.spreadsheetml.sheet`,
  pdf: 'application/pdf',
  htm: 'text/html',
  html: 'text/html',
  txt: 'text/plain',
  xlf: 'application/x-xliff+xml',
  xliff: 'application/x-xliff+xml',
  srt: 'application/x-subrip',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  png: 'image/png',
}

const LARGEST: Readonly<Record<string, readonly [free: number, pro: number]>> = {
  txt: [MB, MB],
  htm: [5 * MB, 5 * MB],
  html: [5 * MB, 5 * MB],
  xlf: [10 * MB, 10 * MB],
  xliff: [10 * MB, 10 * MB],
  srt: [150_000, 150_000],
  jpeg: [3 * MB, 3 * MB],
  jpg: [3 * MB, 3 * MB],
  png: [3 * MB, 3 * MB],
}

/** Bytes that a document of this extension may have. */
export function largestDocument(extension: string, plan: 'free' | 'pro'): number {
  const [free, pro] = LARGEST[extension] ?? [10 * MB, 30 * MB]
  return plan === 'free' ? free : pro
}

/** Code points of text, bytes of all else. */
export function documentCharacters(content: Buffer, extension: string): number {
  return /^(?:txt|html?|srt|xlf|xliff)$/.test(extension) ? codePoints(content.toString()) : content.length
}

/** The same bytes behind `[<target>] `. */
export function translatedDocument(content: Buffer, target: string): Buffer {
  return Buffer.concat([Buffer.from(`[${target}] `), content])
}
