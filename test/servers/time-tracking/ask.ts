/** Requests by hand, as a correct client sends them unless told otherwise. */
import { type RawAnswer, rawRequest } from '../service/raw-request.ts'
import { KNOWN } from './options.ts'
import type { TimeTrackingFake } from './time-tracking-fake.ts'

export interface Asked {
  readonly form?: string
  /** In place of the form's. */
  readonly type?: string
  /** Fields on top of those of a correct client; `undefined` takes one away. */
  readonly headers?: Readonly<Record<string, string | undefined>>
}

/** @param line such as `GET /projects`, below `/v1` */
export function ask(fake: TimeTrackingFake, line: string, { form, type, headers }: Asked = {}): Promise<RawAnswer> {
  const [method = '', path = ''] = line.split(' ')
  const all = {
    'user-agent': KNOWN.userAgent,
    authorization: `Bearer ${KNOWN.token}`,
    ...(form !== undefined && {
      'content-type': type ?? 'application/x-www-form-urlencoded',
      'content-length': String(Buffer.byteLength(form)),
    }),
    ...headers,
  }
  const present = Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined))
  return rawRequest(method, fake.base + path, { headers: present, ...(form !== undefined && { body: form }) })
}
