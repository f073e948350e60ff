import { refusalOf, type Step } from '../step.ts'

/** The files are protected indeed: the authorized requests without headers and query get 401 or 403, or 404 where the file is concealed. */
export const noCredentialStep: Step = {
  title: 'no credential',
  async run({ targets, user, servers }) {
    const auth = await user.auth(servers.root)
    const failures: string[] = []
    for (const { label, target, holding } of targets) {
      const refusal = await refusalOf(async () => {
        const url = new URL(holding.bound ? target.href : (await auth.authorize(target)).url)
        url.search = ''
        const status = await user.bare(url.href)
        if (!(holding.refusal === 'HTTP_404' ? [404] : [401, 403]).includes(status))
          failures.push(`${label}: the bare request got ${status}`)
      })
      if (refusal) failures.push(`${label}: ${refusal.code} ${refusal.message}`)
    }
    return { summary: `${targets.length} bare requests, ${targets.length - failures.length} refused with 401, 403 or 404`, failures }
  },
}
