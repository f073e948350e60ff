/** Where the page of a rule can be read: in the published package. */
export function helpUri(rule: string): string {
  return `https://unpkg.com/stac-auth/docs/rules/${rule}.md`
}
