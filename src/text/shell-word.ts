/** Quotes a text as one argument for POSIX shells, in single quotes. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
