/** What `stac-auth/crawl` promises to callers. */
import { type Auth, type ErrorCode, isAuthError, type Send } from 'stac-auth'
import { type CrawlSend, crawl, crawlInto, type Outcome, type Sink, sendWith, type Visit } from 'stac-auth/crawl'
import { expectTypeOf } from 'vitest'

// What sends is a transport, an engine, or any fetch.
declare const auth: Auth
declare const transport: Send
expectTypeOf(transport).toExtend<CrawlSend>()
expectTypeOf(auth.send).toExtend<CrawlSend>()
expectTypeOf(sendWith(auth.fetch)).toExtend<CrawlSend>()
sendWith(globalThis.fetch)

for await (const visit of crawl({ start: ['https://catalog.example/'], send: transport, sample: 5, origins: 'same' })) {
  if (visit.kind === 'stop') expectTypeOf(visit.left.code).toEqualTypeOf<ErrorCode>()
  else {
    expectTypeOf(visit).toEqualTypeOf<Visit>()
    if (visit.error) expectTypeOf(isAuthError(visit.error)).toEqualTypeOf<boolean>()
  }
}
// @ts-expect-error: nothing is sent by itself
crawl({ start: ['https://catalog.example/'] })

// What is kept between runs is data.
declare const sink: Sink<number>
crawlInto(sink, { start: [], send: transport }, (visit) => visit.outcome.documents)
expectTypeOf(JSON.parse('')).toExtend<Outcome>()
