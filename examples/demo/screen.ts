/** Where the demo's text goes: with colours on a terminal, plain elsewhere. */
import { styleText } from 'node:util'

export interface Output {
  readonly isTTY?: boolean
  write(text: string): unknown
}

export interface Screen {
  line(text?: string): void
  bold(text: string): string
  dim(text: string): string
  good(text: string): string
  bad(text: string): string
}

/** `NO_COLOR`, `TERM=dumb` and anything but a terminal give plain text. */
export function createScreen(output: Output, { NO_COLOR, TERM }: NodeJS.ProcessEnv): Screen {
  const colours = output.isTTY === true && !NO_COLOR && TERM !== 'dumb'
  const painted = (style: Parameters<typeof styleText>[0]) => (text: string) => (colours ? styleText(style, text) : text)
  return {
    line: (text = '') => output.write(`${text}\n`),
    bold: painted('bold'),
    dim: painted('dim'),
    good: painted('green'),
    bad: painted('red'),
  }
}
