/** A text as one argument in a command for POSIX shells: single quotes keep everything but a single quote. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
