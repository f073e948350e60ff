import type { Auth } from '../../auth/auth.ts'
import type { Warning } from '../../auth/strategy.ts'
import type { Visit } from '../../crawl/index.ts'
import { linkOf } from '../../stac/target.ts'

/**
 * Why the next page on another origin is asked for without what its link refers to; undefined when there is nothing to tell. A
 * crawl sends by address, so a reference never takes material further; but who wrote it expected that it would.
 */
export async function foreignNext({ document, outcome, job }: Visit, auth: () => Promise<Auth>): Promise<Warning | undefined> {
  const next = document && job.page ? linkOf(document, 'next', { url: outcome.url }) : undefined
  if (!next || next.refs.length === 0 || !URL.canParse(next.href, outcome.url)) return undefined
  if (new URL(next.href, outcome.url).origin === new URL(outcome.url).origin) return undefined
  const { refs } = await (await auth()).explain(next)
  const [untrusted] = refs.filter(({ code }) => code === 'CREDENTIAL_TARGET_UNTRUSTED')
  if (!untrusted || refs.some(({ code }) => code === undefined)) return undefined
  const origin = new URL(next.href, outcome.url).origin
  const message = `the next page is on ${origin}, where the entry for "${untrusted.ref}" may not go: it is asked for without it`
  return { code: 'CREDENTIAL_TARGET_UNTRUSTED', message, pointer: untrusted.pointer ?? `${next.pointer}/href` }
}
