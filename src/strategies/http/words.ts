/** The words whose credentials are computed: one line each. Every other word takes ready-made text. */
import { basic } from './basic.ts'
import { bearer } from './bearer.ts'
import { concealed } from './concealed.ts'
import { digest } from './digest.ts'
import { dpop } from './dpop.ts'
import { gnap } from './gnap.ts'
import { hoba } from './hoba.ts'
import { mutual } from './mutual.ts'
import { negotiate } from './negotiate.ts'
import { oauth } from './oauth.ts'
import { privateToken } from './private-token.ts'
import { scramSha1, scramSha256 } from './scram.ts'
import { vapid } from './vapid.ts'
import type { HttpWord } from './word.ts'

export const words: readonly HttpWord[] = [
  basic,
  bearer,
  concealed,
  digest,
  dpop,
  gnap,
  hoba,
  mutual,
  negotiate,
  oauth,
  privateToken,
  scramSha1,
  scramSha256,
  vapid,
]
