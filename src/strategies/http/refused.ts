import { CredentialError } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { originOf } from '../../http/network-error.ts'
import type { HttpContext } from './word.ts'

/** `AUTH_REJECTED`, with the scheme's own word for the reason: any other text of a server's may repeat what it was sent. */
export function refused({ url, status }: HttpResponse, { credential: { id } }: HttpContext, word?: string, hint = CHECK): CredentialError {
  const reason = word === undefined ? '' : ` (${word})`
  const message = `${originOf(url)} refused "${id}" with ${status}${reason}`
  return new CredentialError('AUTH_REJECTED', message, { credential: id, url, status, hint })
}

const CHECK = 'check the value of the credential and whether it has expired'
