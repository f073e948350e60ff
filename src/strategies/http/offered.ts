import { platform } from '#platform'
import { ChallengeError, UnsupportedError } from '../../errors.ts'
import { type Challenge, type Challenges, parseChallenges } from '../../http/challenge.ts'
import type { HttpResponse } from '../../http/message.ts'
import { originOf } from '../../http/network-error.ts'
import type { HttpContext } from './word.ts'

/**
 * The challenges of that scheme in an answer, in the server's order; none when it asks for nothing (any status but 401).
 * Errors: `AUTH_CHALLENGE_UNSUPPORTED` naming what was offered instead, `UNSUPPORTED_IN_BROWSER` when a page cannot read it.
 */
export function challengesFor(
  response: HttpResponse,
  scheme: string,
  { credential }: Pick<HttpContext, 'credential'>,
): readonly Challenge[] {
  if (response.status !== 401) return []
  const header = response.headers.get('www-authenticate')
  if (header === null && platform.hidesHeaders) throw hidden(response, scheme)
  const offered = parseChallenges(header ?? '')
  const wanted = offered.challenges.filter((challenge) => challenge.scheme.toLowerCase() === scheme.toLowerCase())
  if (wanted.length > 0) return wanted
  throw new ChallengeError(
    'AUTH_CHALLENGE_UNSUPPORTED',
    `${originOf(response.url)} does not ask for ${scheme}, which entry "${credential.id}" is for: ${summary(offered)}`,
    { url: response.url, credential: credential.id, status: response.status, expected: scheme },
  )
}

/** How many schemes are named in an error, and how much of each name and realm. */
const SHOWN = { schemes: 8, characters: 64 }

function summary({ challenges, problems }: Challenges): string {
  const names = challenges.slice(0, SHOWN.schemes).map(({ scheme, params }) => {
    const realm = params.get('realm')
    return realm === undefined ? short(scheme) : `${short(scheme)} (realm "${short(realm)}")`
  })
  const read = names.length > 0 ? `it offers ${names.join(', ')}` : 'it offers nothing that can be read'
  return problems.length > 0 ? `${read}; ${problems[0]}` : read
}

function short(text: string): string {
  return text.length > SHOWN.characters ? `${text.slice(0, SHOWN.characters)}…` : text
}

function hidden({ url, status }: HttpResponse, scheme: string): UnsupportedError {
  return new UnsupportedError('UNSUPPORTED_IN_BROWSER', `${originOf(url)} asks for something that this page is not allowed to read`, {
    url,
    status,
    hint: `for ${scheme} the server must list WWW-Authenticate and Authentication-Info in Access-Control-Expose-Headers`,
  })
}
