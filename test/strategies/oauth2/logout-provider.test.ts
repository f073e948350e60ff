import { expect, it } from 'vitest'
import { sessionStorageStore } from '../../../src/browser/stores.ts'
import { failureOf } from '../../harness/failure.ts'
import { browser, provided } from './provider.ts'

/** As `sessionStorage` of a browser that keeps nothing. */
const storage = new Proxy({} as Storage, {
  get: () => () => {
    throw new DOMException('Access is denied for this document.', 'SecurityError')
  },
})

it('a logout without storage ends the session, and reports that nothing could be removed there', async () => {
  const { entries, engine, file } = await provided()
  const told: string[] = []
  const auth = engine(entries.person, { session: sessionStorageStore({ storage }), onSession: ({ change }) => told.push(change) })
  await auth.login('person', browser().interaction)
  expect(await (await auth.fetch(file(entries.person))).text()).toBe('file of alice')
  expect(await failureOf(auth.logout('person'))).toMatchObject({ code: 'FILE_ACCESS' })
  expect(told).toEqual(['started', 'removed'])
  expect(await failureOf(auth.fetch(file(entries.person)))).toMatchObject({ code: 'LOGIN_REQUIRED' })
})
