/** Keeps the servers up, so that the command line and the page can be tried on them. */
import { buildPage } from '../browser/build.ts'
import type { Screen } from './screen.ts'
import { randomSecrets } from './secrets.ts'
import { type Servers, startServers } from './servers.ts'
import { type SiteSecrets, siteSecrets } from './site/secrets.ts'
import { startSite } from './site/start-site.ts'
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
  const keys = siteSecrets()
  const site = await startSite(await buildPage(), keys)
  try {
    screen.line(`${screen.bold('stac-auth demo')}  a protected catalog on ${servers.root}\n`)
    for (const line of pageLines(site.url, keys)) screen.line(line)
    for (const [comment, ...commands] of commandsFor(servers, user)) {
      screen.line(screen.dim(`# ${comment}`))
      for (const command of commands) screen.line(command)
    }
    await interrupted
  } finally {
    user.forget()
    await Promise.all([servers.close(), site.close()])
  }
}

/** Where the page is, and what a person would know by other means. */
function pageLines(url: string, { key, username, password }: SiteSecrets): readonly string[] {
  return [
    `Open ${url} in a browser: a catalog browser with files of its own.`,
    `  login     anybody is let in`,
    `  key       ${key}`,
    `  account   ${username}, password ${password}`,
    '',
  ]
}

/** Groups of commands, each behind what it shows. */
function commandsFor({ root, evil }: Servers, { file, ca }: User): readonly (readonly string[])[] {
  const item = (name: string) => new URL(`items/${name}.json`, root).href
  return [
    ['in another terminal, in the same folder', `export STAC_AUTH_CREDENTIALS='${file}' NODE_EXTRA_CA_CERTS='${ca}'`],
    [
      'is the document right, and which credential would be used?',
      `node dist/cli/bin.js lint ${item('oauth2')}`,
      `node dist/cli/bin.js explain ${item('oauth2')}`,
    ],
    ['a request for another program', `node dist/cli/bin.js authorize ${item('signed-get')} --asset data --as curl --reveal`],
    ['the file itself', `node dist/cli/bin.js fetch ${item('s3')} --asset data -o s3.bin`],
    ['all files of the catalog, then only what is missing', `node dist/cli/bin.js download ${root} --crawl -d files`],
    ['a host that no credential names gets nothing', `node dist/cli/bin.js fetch ${evil.origin}/copy.json --asset data -o copy.bin`],
    ['Ctrl-C stops the servers and removes the credentials'],
  ]
}
