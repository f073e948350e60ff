import { describe, expect, it } from 'vitest'
import { authorizeRequests, type WorkerScope } from '../../src/adapters/service-worker.ts'
import { failureOf } from '../harness/failure.ts'
import { KEY, startArchive } from './archive.ts'

/** What a worker answers to a request, and what it is told. */
async function answered(auth: Parameters<typeof authorizeRequests>[1], url: string) {
  const told: unknown[] = []
  let answer: Promise<Response> | undefined
  const scope: WorkerScope = {
    addEventListener: (_, listener) =>
      listener({
        request: new Request(url),
        respondWith: (given) => {
          answer = given
        },
      }),
  }
  authorizeRequests(scope, auth, (error) => told.push(error))
  return { answer: answer ?? Promise.reject(new Error('it does not answer')), told }
}

describe('a service worker', () => {
  it('asks covered URLs with the key, all others as the page would', async () => {
    const archive = await startArchive({ 'a.json': '{}' })
    const { answer, told } = await answered(archive.engine(), `${archive.stranger.origin}/files/a.json`)
    expect(await (await answer).text()).toBe('{}')
    expect(archive.stranger.exchanges.map(({ request }) => request.headers['x-archive-key'])).toEqual([undefined])
    expect(told).toEqual([])
    const covered = await answered(archive.engine(), `${archive.origin}/files/a.json`)
    expect(await (await covered.answer).text()).toBe('{}')
    expect(archive.guarded.exchanges.map(({ request }) => request.headers['x-archive-key'])).toEqual([KEY])
    expect(covered.told).toEqual([])
    await archive.close()
  })

  it('reports its own failures, not of those of URLs that are none of its business', async () => {
    const archive = await startArchive({})
    await archive.close()
    const other = await answered(archive.engine(), `${archive.stranger.origin}/a`)
    expect(await failureOf(other.answer)).toBeInstanceOf(TypeError)
    expect(other.told).toEqual([])
    const own = await answered(archive.engine(), `${archive.origin}/a`)
    expect((await own.answer).type).toBe('error')
    expect(own.told).toMatchObject([{ code: 'NETWORK_REFUSED' }])
  })
})
