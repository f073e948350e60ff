/** Which host a key belongs to. */
import type { ErrorCode } from '../../errors.ts'
import type { TranslationClientOptions } from './translation-options.ts'

const HOSTS = { pro: 'https://api.deepl.com', free: 'https://api-free.deepl.com' } as const

/** The base addresses that are possible for a client; more than one when only the key can tell, the one for paid plans first. */
export function hostsOf({ baseUrl, plan, apiKey }: TranslationClientOptions): readonly string[] {
  if (baseUrl !== undefined) return [baseUrl]
  if (plan) return [HOSTS[plan]]
  return typeof apiKey === 'string' ? [HOSTS[planOf(apiKey)]] : [HOSTS.pro, HOSTS.free]
}

/** The plan that a key is for, as its end says. */
export function planOf(key: string): 'free' | 'pro' {
  return key.endsWith(':fx') ? 'free' : 'pro'
}

/** A warning when a key goes to the host of the other plan; whether that works is for the service to say. */
export function hostWarning(origin: string, key: string): { readonly code: ErrorCode; readonly message: string } | undefined {
  const plan = planOf(key)
  const other = plan === 'free' ? 'pro' : 'free'
  if (origin !== HOSTS[other]) return undefined
  return { code: 'PLAN_HOST_MISMATCH', message: `the key looks like one of the ${plan} plan, ${origin} serves the ${other} plan` }
}
