/** Reads the error documents of object stores (Amazon S3, Google Cloud Storage, Azure Storage): XML with a code. */
import { isAuthError } from '../errors.ts'
import type { HttpResponse } from './message.ts'

const MAX_BODY = 64 * 1024

/** Returns the body of an error response, or nothing when it is too long. */
export async function errorDocument(response: HttpResponse): Promise<string> {
  try {
    return await response.text(MAX_BODY)
  } catch (error) {
    if (isAuthError(error) && error.code === 'RESPONSE_TOO_LARGE') return ''
    throw error
  }
}

/** Returns the content of an element of an error document when it is one word. */
export function wordIn(xml: string, element: string): string | undefined {
  return new RegExp(`<${element}>([\\w.:+/=-]{1,128})</${element}>`).exec(xml)?.[1]
}
