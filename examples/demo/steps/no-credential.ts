import { refusalOf, type Step } from '../step.ts'

/** The files are protected indeed: the authorized requests without headers and query get 401 or 403. */
export const noCredentialStep: Step = {
  title: 'no credential',
  async run({ targets, user, servers }) {
    const auth = await user.auth(servers.root)
    const failures: string[] = []
    for (const { label, target } of targets) {
      const refusal = await refusalOf(async () => {
        const url = new URL((await auth.authorize(target)).url)
        url.search = ''
        const { status, body } = await fetch(url, { redirect: 'error' })
        await body?.cancel()
        if (status !== 401 && status !== 403) failures.push(`${label}: the bare request got ${status}`)
      })
      if (refusal) failures.push(`${label}: ${refusal.code} ${refusal.message}`)
    }
    return { summary: `${targets.length} bare requests, ${targets.length - failures.length} refused with 401 or 403`, failures }
  },
}
