/** What of the library works in a worker: it answers a message with what came of it. */
import { createLogins, describeRequirements, dpopKeyStore, sessionStorageStore } from '../../src/browser/index.ts'
import { assetOf, bearer, createAuth, isAuthError } from '../../src/index.ts'

const codeOf = (error: unknown) => (isAuthError(error) ? error.code : String(error))

self.onmessage = async ({ data }: MessageEvent<{ readonly url: string; readonly token: string; readonly item: object }>) => {
  const warnings: string[] = []
  const auth = createAuth({
    credentials: bearer(data.token, `${new URL(data.url).origin}/`),
    session: sessionStorageStore({ onWarning: ({ code }) => warnings.push(code) }),
  })
  const logins = createLogins(auth, { callback: '/callback.html' })
  const pair = await dpopKeyStore().pair('worker')()
  self.postMessage({
    refused: await auth.fetch(data.url).then(({ status }) => status, codeOf),
    popup: await logins.popup('http-1').catch(codeOf),
    redirect: await logins.redirect('http-1').catch(codeOf),
    forms: (await describeRequirements(assetOf(data.item, 'data'))).map(({ fields }) => fields.map(({ name }) => name)),
    extractable: pair.privateKey.extractable,
  })
}
