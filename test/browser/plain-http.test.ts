/** Pages that came by plain http from elsewhere than localhost: browsers leave them without SubtleCrypto. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLogins } from '../../src/browser/logins.ts'
import { dpopKeyStore } from '../../src/browser/stores.ts'
import { digest, hmacKey, sha256Hex } from '../../src/platform/web.ts'
import { failureOf } from '../harness/failure.ts'
import { fakePage } from './fake-page.ts'

const SITE = 'http://192.168.0.7:8080'

beforeEach(() => {
  vi.stubGlobal('isSecureContext', false)
  vi.stubGlobal('crypto', { getRandomValues: crypto.getRandomValues.bind(crypto) })
})
afterEach(() => void vi.unstubAllGlobals())

describe('a page that was loaded over plain http', () => {
  it('a page that was loaded over plain http is told what is missing before any window opens', async () => {
    const page = fakePage(`${SITE}/`)
    const never = () => Promise.reject(new Error('the engine was asked'))
    const auth = { login: never, logout: never, status: never }
    const logins = createLogins(auth, { callback: '/callback.html', page })
    for (const login of [logins.popup('portal'), logins.redirect('portal')]) {
      const error = await failureOf(login)
      expect(error).toMatchObject({
        code: 'UNSUPPORTED_IN_BROWSER',
        message: expect.stringContaining('plain http'),
        hint: expect.stringContaining('https;'),
      })
    }
    expect([page.popups, page.visited, [...page.texts]]).toEqual([[], [], []])
    expect(await logins.finish()).toBeUndefined()
  })

  it('a page that was loaded over plain http cannot sign, hash or make keys, and gets the reason', async () => {
    const works = [sha256Hex('text'), digest('SHA-256', new Uint8Array(1)), hmacKey(new Uint8Array(1)), dpopKeyStore().pair('a')()]
    for (const error of await Promise.all(works.map((work) => failureOf(work))))
      expect(error).toMatchObject({ code: 'UNSUPPORTED_IN_BROWSER', hint: expect.stringContaining('https;') })
  })
})
