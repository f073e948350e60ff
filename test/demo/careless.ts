/** The demo, each time with one server that does not check what it is sent: a line of JSON for each run. */
import { randomUUID } from 'node:crypto'
import { STARTERS } from '../../examples/demo/archive.ts'
import { runDemo } from '../../examples/demo/demo.ts'
import { createScreen } from '../../examples/demo/screen.ts'
import { jsonAnswer, startAnswering } from '../servers/answering-server.ts'
import { CERTIFIED } from '../servers/harness.ts'
import { startProtectedFiles } from '../servers/protected-files.ts'

/** Gives every file to everybody. */
const open: typeof startProtectedFiles = (files, certified) =>
  startProtectedFiles(Object.fromEntries(Object.entries(files).map(([path, { content }]) => [path, { content }])), certified)

/** Gives a token to everybody. */
const tokens: typeof STARTERS.tokens = async () => {
  const issued = new Set<string>()
  const server = await startAnswering(() => {
    const token = randomUUID()
    issued.add(token)
    return jsonAnswer(200, { access_token: token, token_type: 'Bearer' })
  })
  return Object.assign(server, { tokenUrl: `${server.origin}/token`, accepts: (token: string) => issued.has(token) })
}

/** Issues to everybody. */
const issuer: typeof STARTERS.issuer = (key) => STARTERS.issuer(key)

/** Signs for everybody. */
const signing: typeof STARTERS.signing = (options) => STARTERS.signing({ ...options, get: () => undefined, post: () => undefined })

/** Looks at no signature. */
const s3: typeof STARTERS.s3 = async ({ objects }) => {
  const server = await open(Object.fromEntries(Object.entries(objects).map(([name, content]) => [`/${name}`, { content }])))
  return {
    url: server.origin,
    virtualHost: '',
    get log() {
      return server.exchanges.map(({ request: { method, path, headers }, answer: { status } }) => ({ method, url: path, headers, status }))
    },
    close: server.close,
  }
}

/** Swaps the contents of its files: every request is checked, and the wrong bytes come. */
const mixedUp: typeof startProtectedFiles = (files) => {
  const contents = Object.values(files).map(({ content }) => content)
  return startProtectedFiles(
    Object.fromEntries(Object.entries(files).map(([path, file], index) => [path, { ...file, content: contents.at(index - 1) ?? '' }])),
  )
}

const CARELESS = {
  files: { files: open },
  sealed: { sealed: (files: Parameters<typeof open>[0]) => open(files, CERTIFIED) },
  tokens: { tokens },
  issuer: { issuer },
  signing: { signing },
  blobs: { blobs: open },
  s3: { s3 },
  bytes: { files: mixedUp },
}

for (const [name, starters] of Object.entries(CARELESS)) {
  const text: string[] = []
  const exitCode = await runDemo(createScreen({ write: (line) => text.push(line) }, {}), { ...STARTERS, ...starters })
  process.stdout.write(`${JSON.stringify({ name, exitCode, text: text.join('') })}\n`)
}
