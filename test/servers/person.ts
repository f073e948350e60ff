/** Plays the person in front of a browser: follows redirects, logs in, consents, refuses. */

/** Where the browser ends up: the first address at which `stop` says so, or the text of the last page. */
export async function browse(
  start: string,
  { stop = () => false, deny = false }: { stop?: (url: URL) => boolean; deny?: boolean } = {},
): Promise<URL | string> {
  const cookies = new Map<string, string>()
  let at = new URL(start)
  let body: string | undefined
  for (let pages = 0; pages < 30; pages++) {
    const response = await fetch(at, {
      method: body === undefined ? 'GET' : 'POST',
      redirect: 'manual',
      headers: {
        cookie: [...cookies].map((pair) => pair.join('=')).join('; '),
        ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(body !== undefined && { body }),
    })
    body = undefined
    for (const cookie of response.headers.getSetCookie()) keep(cookie, cookies)
    const location = response.headers.get('location')
    if (location !== null) {
      at = new URL(location, at)
      if (stop(at)) return at
      continue
    }
    const page = await response.text()
    const form = formOf(page, deny)
    if (!form) return page
    at = new URL(form.action, at)
    if (form.body === undefined) continue
    body = form.body
  }
  throw new Error('the pages have no end')
}

function keep(cookie: string, cookies: Map<string, string>): void {
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
  if (value === '') cookies.delete(name)
  else cookies.set(name, value)
}

/** What a person does on a page; undefined on one where there is nothing left to do. */
function formOf(page: string, deny: boolean): { action: string; body?: string } | undefined {
  const abort = /<a href="([^"]+\/abort)"/.exec(page)?.[1]
  if (deny && abort) return { action: abort }
  const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1]
  if (!action) return undefined
  if (page.includes('name="login"')) return { action, body: 'prompt=login&login=alice&password=any' }
  if (page.includes('value="consent"')) return { action, body: 'prompt=consent' }
  const inputs = [...page.matchAll(/<input[^>]*name="([^"]+)"[^>]*value="([^"]*)"/g)]
  const extra: [string, string][] = deny && page.includes('name="abort"') ? [['abort', 'yes']] : []
  return {
    action,
    body: new URLSearchParams([...inputs.map(([, name = '', value = '']): [string, string] => [name, value]), ...extra]).toString(),
  }
}
