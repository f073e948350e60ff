/** What becomes of files when a server asks for proof again and again, or in several ways. */

import { generateKeyPairSync } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import type { CredentialInput } from '../../../src/auth/credential.ts'
import { temporaryFolder } from '../../cli/folder.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { type Answer, type Inquiry, startAnswering } from '../../servers/answering-server.ts'
import { differenceOf } from '../../servers/chaos/depot-content.ts'
import { contentName, type DepotOptions, startFileDepot } from '../../servers/chaos/file-depot.ts'
import { digestServer } from '../../servers/digest-server.ts'
import { dpopResource } from '../../servers/dpop-resource.ts'
import { thumbprintOf } from '../../servers/jws.ts'
import { startTokenServer } from '../../servers/token-server.ts'
import { codesOf, filesIn, itemOf, ofKind, run } from './fixture.ts'

const ACCOUNT = { username: 'ada', password: 'Circle of Life' }
const NAMES = ['a.bin', 'b.bin', 'c.bin']

/** Three files of that server, of that scheme. */
async function fetched(answerTo: (request: Inquiry) => Answer, scheme: string, entry: Partial<CredentialInput>) {
  const server = await startAnswering(answerTo)
  onTestFinished(() => server.close())
  const credentials = [{ id: 'mine', type: 'http', scheme, sendTo: [`${server.origin}/`], ...entry }] as CredentialInput[]
  const properties = { 'auth:schemes': { proof: { type: 'http', scheme } } }
  const assets = Object.fromEntries(NAMES.map((name) => [name, { href: `${server.origin}/${name}`, 'auth:refs': ['proof'] }]))
  const folder = await temporaryFolder()
  const result = await run([itemOf(server, assets, { properties })], { folder, auth: createAuth({ credentials }), concurrency: 1 })
  const asked = NAMES.map((name) => server.exchanges.filter(({ request }) => request.path === `/${name}`))
  return { result, codes: codesOf(result), asked, server, files: await filesIn(folder) }
}

const ended = (code: string) => NAMES.map(() => code)

describe('a proof that is never good enough', () => {
  it('a proof that is never good enough is given twice to a server whose nonces are always stale', async () => {
    const guard = digestServer({ ...ACCOUNT, uses: 0 })
    const { codes, asked, files } = await fetched(guard, 'digest', ACCOUNT)
    expect([codes, files]).toEqual([ended('AUTH_REJECTED'), {}])
    for (const exchanges of asked) {
      const proofs = exchanges.filter(({ request }) => request.headers.authorization !== undefined)
      expect([proofs.length, exchanges.every(({ answer }) => answer.status === 401)]).toEqual([2, true])
    }
  })

  it('gives a DPoP proof only twice to a server that never accepts its own nonce', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    let count = 0
    const token = 'token-token-token'
    const guard = dpopResource({ token, jkt: thumbprintOf(publicKey), nonce: () => `n-${count++}` })
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const { codes, asked, files } = await fetched(guard, 'dpop', { token, privateKey: key })
    expect([codes, files, asked.map(({ length }) => length)]).toEqual([ended('AUTH_REJECTED'), {}, [2, 2, 2]])
  })
})

describe('several challenges', () => {
  const odd = 'Odd realm="a, Basic realm=\\"b\\", Digest", next="x,y"'

  it('several challenges are answered by the one that the entry is for, its strongest form', async () => {
    const guard = digestServer({ ...ACCOUNT, algorithms: ['MD5', 'SHA-256'] })
    const answerTo = (request: Inquiry): Answer => {
      const answer = guard(request)
      const asked = answer.headers?.['www-authenticate']
      if (asked === undefined) return answer
      return { ...answer, headers: { 'www-authenticate': `Basic realm="files", ${odd}, ${asked}, Bearer` } }
    }
    const { codes, server, files } = await fetched(answerTo, 'digest', ACCOUNT)
    expect([codes, Object.keys(files).sort()]).toEqual([[], NAMES])
    const sent = server.exchanges.flatMap(({ request: { headers } }) => headers.authorization ?? [])
    for (const header of sent) expect(header).toMatch(/^Digest .*algorithm=SHA-256/)
  })

  it.each([
    ['Basic only', 'Basic realm="files"'],
    ['none that is known', odd],
  ])('several challenges without that one end it, and nothing is given away: %s', async (_, asked) => {
    const { codes, server, files } = await fetched(() => ({ status: 401, headers: { 'www-authenticate': asked } }), 'digest', ACCOUNT)
    expect([codes, files]).toEqual([ended('AUTH_CHALLENGE_UNSUPPORTED'), {}])
    expect(server.exchanges.flatMap(({ request: { headers } }) => headers.authorization ?? [])).toEqual([])
  })

  it('several challenges of 64 kB are not read', async () => {
    const asked = `Digest realm="${'x'.repeat(65_536)}", nonce="a"`
    const { codes, files } = await fetched(() => ({ status: 401, headers: { 'www-authenticate': asked } }), 'digest', ACCOUNT)
    expect([codes, files]).toEqual([ended('RESPONSE_TOO_LARGE'), {}])
  })
})

const CLIENT = { id: 'loader', secret: 'loader-secret', scopes: ['read'] }

/** Files behind tokens that can be called back. */
async function tokenFiles(files: DepotOptions['files'], count: number) {
  const tokens = await startTokenServer({ client: CLIENT })
  let isGood = (_token: string): boolean => true
  const refuses = ({ authorization = '' }: { readonly authorization?: string | undefined }) => {
    const token = authorization.replace(/^Bearer /, '')
    return tokens.accepts(token, 'read') && isGood(token) ? undefined : 'Bearer error="invalid_token"'
  }
  const depot = await startFileDepot({ files, refuses })
  onTestFinished(async () => {
    await depot.close()
    await tokens.close()
  })
  const { id: clientId, secret: clientSecret } = CLIENT
  const entry = { id: 'loader', type: 'oauth2', flow: 'clientCredentials', tokenUrl: tokens.tokenUrl, clientId, clientSecret }
  const auth = createAuth({ credentials: unchecked([{ ...entry, sendTo: [`${depot.origin}/`] }]), typed: [depot.origin, tokens.origin] })
  const flows = { clientCredentials: { tokenUrl: tokens.tokenUrl, scopes: { read: 'Read' } } }
  const properties = { 'auth:schemes': { oauth: { type: 'oauth2', flows } } }
  const names = Array.from({ length: count }, (_, at) => `${at}.bin`)
  const assets = (some: readonly string[]) =>
    Object.fromEntries(some.map((name) => [name, { href: `${depot.origin}/${name}`, 'auth:refs': ['oauth'] }]))
  const folder = await temporaryFolder()
  return {
    depot,
    tokens,
    names,
    folder,
    accept: (accepts: typeof isGood) => {
      isGood = accepts
    },
    fetch: (some: readonly string[], options = {}) => run([itemOf(depot, assets(some), { properties })], { folder, auth, ...options }),
  }
}

describe('a token that is refused', () => {
  it('a token that is refused is refreshed once for two hundred files at a time', async () => {
    const { depot, tokens, names, folder, accept, fetch } = await tokenFiles(() => ({ size: 20_000 }), 200)
    await fetch(['0.bin'])
    let old: string | undefined
    accept((token) => {
      old ??= token
      return token !== old
    })
    const { summary } = await fetch(names, { concurrency: 200, perHost: 200 })
    expect([summary.written, summary.kept, summary.failed]).toEqual([199, 1, 0])
    expect(tokens.exchanges).toHaveLength(2)
    // Each at most once with the old token, then with the new one.
    expect(depot.refused).toBeLessThanOrEqual(199)
    expect(depot.requests).toBe(1 + 199 + depot.refused)
    const wrong = names.map((name) => differenceOf(join(folder, name), contentName(`/${name}`, 0), 20_000))
    expect((await Promise.all(wrong)).filter(Boolean)).toEqual([])
  })

  it('a token that is refused after a refresh as well ends a file, and what was there of it stays', async () => {
    const size = 6 * 2 ** 20
    const { depot, tokens, folder, accept, fetch } = await tokenFiles(() => ({ size }), 1)
    const end = new AbortController()
    const first = fetch(['0.bin'], { signal: end.signal, bytesPerSecond: 4 * 2 ** 20 })
    const journal = join(folder, '0.bin.part.json')
    await expect.poll(() => readFile(journal, 'utf8').catch(() => ''), { interval: 5 }).toMatch(/^\[0,\d+\]$/m)
    end.abort()
    await expect(first).rejects.toMatchObject({ code: 'ABORTED' })
    accept(() => false)
    const before = [depot.requests, tokens.exchanges.length] as const
    const result = await fetch(['0.bin'])
    expect(ofKind(result, 'failed')).toMatchObject([{ error: { code: 'AUTH_REJECTED', credential: 'loader' } }])
    expect([depot.requests - before[0], tokens.exchanges.length - before[1]]).toEqual([2, 1])
    const [{ resumable = 0 } = {}] = ofKind(result, 'failed')
    expect(resumable).toBeGreaterThan(0)
    accept(() => true)
    expect((await fetch(['0.bin'])).summary).toMatchObject({ written: 1, received: size - resumable })
    expect(await differenceOf(join(folder, '0.bin'), contentName('/0.bin', 0), size)).toBeUndefined()
  })
})
