import { elementText } from './element-text.ts'

/** The `Code` of an error document (Amazon S3 API reference, "Error responses") when it is one word, else nothing. */
export function errorCode(body: string): string {
  return /^\w{1,64}$/.exec(elementText(body, 'Code') ?? '')?.[0] ?? ''
}
