/** Fills the table of retry policies in CONTRIBUTING.md from the policies themselves. */
import { readFileSync } from 'node:fs'
import { CRAWL_RETRIES } from '../src/crawl/settings.ts'
import type { Backoff, RetryPolicy } from '../src/net/retry.ts'
import { PREPARING_RETRIES } from '../src/node/download/answer.ts'
import { DOWNLOAD_RETRIES, LISTING_RETRIES, VERIFY_RETRIES } from '../src/node/download/download-context.ts'
import { GATEWAY_RETRIES } from '../src/node/gateway/upstream.ts'
import { API_RETRIES } from '../src/services/client/retries.ts'
import { TOKEN_RETRIES } from '../src/strategies/oauth2/endpoint.ts'
import { SIGNING_RETRIES } from '../src/strategies/signed-url/rate-limit.ts'
import { checkOnly, emit } from './emit.ts'

interface Row {
  readonly policy: RetryPolicy
  /** What a number cannot say. */
  readonly attempts?: string
  readonly retried: string
  readonly retryAfter?: string
}

const ROWS: { readonly [caller: string]: Row } = {
  'API clients': {
    policy: API_RETRIES,
    attempts: '; time tracking 3, or as `retries` says',
    retried: 'by the class of the operation (`services/client/retries.ts`)',
    retryAfter: ', or as `maxRetryAfter` says; all calls wait',
  },
  crawl: { policy: CRAWL_RETRIES, retried: '408, 425, 429, most 5xx, the network', retryAfter: '; the origin waits' },
  download: {
    policy: DOWNLOAD_RETRIES,
    attempts: ' in a row without a new byte',
    retried: 'as for a crawl, and bodies that end early',
    retryAfter: '; the origin waits',
  },
  'files in preparation': { policy: PREPARING_RETRIES, attempts: ' within `wait` (10 minutes)', retried: '202' },
  gateway: {
    policy: GATEWAY_RETRIES,
    attempts: ' before a response, and in a row without a new byte of it',
    retried: '429, 502, 503, 504, the network, a token that has just expired; bodies that end early',
  },
  'listing of objects': { policy: LISTING_RETRIES, retried: 'as for a crawl' },
  'verifying downloads at their servers': { policy: VERIFY_RETRIES, retried: 'as for a crawl' },
  'token endpoints': {
    policy: TOKEN_RETRIES,
    attempts: ', none begun after 20 s; 5 failures in a row rest the endpoint for 10 s',
    retried: '429, 5xx, the network; never what must not be sent twice',
    retryAfter: ' in all (10 s while a lock is held), at least the delay',
  },
  'signing APIs': { policy: SIGNING_RETRIES, retried: '429; 503 with `Retry-After`', retryAfter: '; all calls wait' },
}

const page = new URL('../CONTRIBUTING.md', import.meta.url)
const filled = readFileSync(page, 'utf8').replace(
  /(<!-- generated: retry policies -->\n)[\s\S]*?(<!-- end -->)/,
  (_all, open: string, close: string) => `${open}${tableOf()}${close}`,
)
emit(page, filled, checkOnly())

function tableOf(): string {
  const rows = Object.entries(ROWS).map(([caller, row]) => rowOf(caller, row))
  return [
    '| caller | attempts | delays | what is retried | `Retry-After` | budget |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n')
}

function rowOf(caller: string, { policy, attempts = '', retried, retryAfter = '' }: Row): string {
  const { retries, unresolved, backoff, overloaded, budget } = policy
  const names = unresolved === undefined ? '' : `; ${unresolved + 1} for a name that is not found`
  const delays = `${delaysOf(backoff)}${overloaded ? `; after 429 and 529 ${delaysOf(overloaded)}` : ''}`
  const spent = budget ? `${budget.most}, +${budget.earned} for each first attempt that succeeds` : 'none'
  return `| ${caller} | ${retries + 1}${attempts}${names} | ${delays} | ${retried} | ${hintOf(policy)}${retryAfter} | ${spent} |`
}

function delaysOf({ first, longest, fixed, random, least }: Backoff): string {
  const shares = random === 0 ? '' : ` × ${fixed} to ${fixed + random}`
  return `${first / 1000} s doubled up to ${longest / 1000} s${shares}${least === undefined ? '' : `, at least ${least / 1000} s`}`
}

function hintOf({ retryAfter: { longest, spread, least } }: RetryPolicy): string {
  const more = spread === undefined ? '' : `, and up to ${spread * 100} % more`
  const floor = least === undefined ? '' : `, at least ${least} ms`
  return `up to ${longest / 1000} s${more}${floor}`
}
