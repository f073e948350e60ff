/** Keeps the servers up, so that the command line can be tried on them. */
import type { Screen } from './screen.ts'
import { randomSecrets } from './secrets.ts'
import { type Servers, startServers } from './servers.ts'
import { createUser, type User } from './user.ts'

/** Prints commands to copy and waits for SIGINT, SIGTERM or SIGHUP; then nothing is left behind. */
export async function serveDemo(screen: Screen): Promise<void> {
  // Heard from the start and to the end: an interruption never leaves the folder behind.
  const interrupted = new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, resolve)
  })
  const secrets = randomSecrets()
  const servers = await startServers(secrets)
  const user = await createUser(servers.addresses, secrets)
  try {
    screen.line(`${screen.bold('stac-auth demo')}  a protected catalog on ${servers.root}\n`)
    for (const [comment, ...commands] of commandsFor(servers, user)) {
      screen.line(screen.dim(`# ${comment}`))
      for (const command of commands) screen.line(command)
    }
    await interrupted
  } finally {
    user.forget()
    await servers.close()
  }
}

/** Groups of commands, each behind what it shows. */
function commandsFor({ root, evil }: Servers, { file }: User): readonly (readonly string[])[] {
  const item = (name: string) => new URL(`items/${name}.json`, root).href
  return [
    ['in another terminal, in the same folder', `export STAC_AUTH_CREDENTIALS='${file}'`],
    [
      'is the document right, and which credential would be used?',
      `npx stac-auth lint ${item('oauth2')}`,
      `npx stac-auth explain ${item('oauth2')}`,
    ],
    ['a request for another program', `npx stac-auth authorize ${item('signed-get')} --asset data --as curl --reveal`],
    ['the file itself', `npx stac-auth fetch ${item('s3')} --asset data -o s3.bin`],
    ['all files of the catalog, then only what is missing', `npx stac-auth download ${root} --crawl -d files`],
    ['a host that no entry names gets nothing', `npx stac-auth fetch ${evil.origin}/copy.json --asset data -o copy.bin`],
    ['Ctrl-C stops the servers and removes the credentials'],
  ]
}
