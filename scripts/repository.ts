/** The field `repository` of a package.json. */
export type Repository = string | { readonly url?: string }

/** Returns `owner/name` of a repository on GitHub from each form that npm reads. */
export function repositoryName(repository: Repository | undefined): string | undefined {
  const text = typeof repository === 'string' ? repository : (repository?.url ?? '')
  return /^(?:github:|(?:git\+)?(?:https|ssh|git):\/\/(?:git@)?github\.com\/)([\w.-]+\/[\w.-]+?)(?:\.git)?$/.exec(text)?.[1]
}

/** Returns the URL of the documentation site, with a slash at its end, from the field `homepage` of a package.json. */
export function docsSite(homepage: string | undefined): string | undefined {
  const [, site] = /^(https:\/\/[\w.-]+(?::\d+)?(?:\/[\w.~-]+)*)\/?$/.exec(homepage ?? '') ?? []
  return site && `${site}/`
}
