/** Runs the demo: from a URL of a catalog to the bytes of every file, and to every refusal that must happen. */
import type { STARTERS } from './archive.ts'
import { protectedIn, readCatalog } from './reading.ts'
import type { Screen } from './screen.ts'
import { randomSecrets, wrongSecrets } from './secrets.ts'
import { startServers } from './servers.ts'
import type { Outcome, Stage, Step } from './step.ts'
import { authorizeStep } from './steps/authorize.ts'
import { downloadStep } from './steps/download.ts'
import { explainStep } from './steps/explain.ts'
import { fetchStep } from './steps/fetch.ts'
import { foreignEndpointStep } from './steps/foreign-endpoint.ts'
import { foreignHostStep } from './steps/foreign-host.ts'
import { lintStep } from './steps/lint.ts'
import { noCredentialStep } from './steps/no-credential.ts'
import { wrongSecretsStep } from './steps/wrong-secrets.ts'
import { createUser } from './user.ts'

const STEPS: readonly Step[] = [
  lintStep,
  explainStep,
  authorizeStep,
  fetchStep,
  downloadStep,
  noCredentialStep,
  wrongSecretsStep,
  foreignHostStep,
  foreignEndpointStep,
]

/** The exit code: 0 when every byte and every refusal was right, else 1. */
export async function runDemo(screen: Screen, starters?: typeof STARTERS): Promise<number> {
  const secrets = randomSecrets()
  const servers = await startServers(secrets, starters)
  const user = await createUser(servers.addresses, secrets)
  const stranger = await createUser(servers.addresses, wrongSecrets(secrets))
  try {
    const pages = await readCatalog(servers.root, await user.auth(servers.root))
    const targets = protectedIn(pages, servers.holdings)
    screen.line(`${screen.bold('stac-auth demo')}  a protected catalog on ${servers.root}\n`)
    return await runSteps({ servers, user, stranger, pages, targets }, screen)
  } finally {
    for (const { forget } of [user, stranger]) forget()
    await servers.close()
  }
}

async function runSteps(stage: Stage, screen: Screen): Promise<number> {
  let failures = 0
  for (const step of STEPS) {
    const outcome = await step.run(stage)
    show(step, outcome, screen)
    failures += outcome.failures.length
  }
  screen.line(failures ? `\n${screen.bad(`${failures} things are wrong`)}` : `\n${screen.good('everything is right')}`)
  return failures ? 1 : 0
}

function show({ title }: Step, { summary, lines = [], failures }: Outcome, screen: Screen): void {
  const verdict = failures.length ? screen.bad('FAILED') : screen.good('ok    ')
  screen.line(`${verdict}  ${screen.bold(title.padEnd(14))}  ${summary}`)
  for (const line of lines) screen.line(`        ${line}`)
  for (const failure of failures) screen.line(`        ${screen.bad('!')} ${failure}`)
}
