/** Finds the arguments that a program reads as a script: the text of a document must not stand in one. */
import { basename } from 'node:path'

/** How a program gets its script. */
interface Interpreter {
  readonly name: RegExp
  /** Options before the script; undefined where the first argument that is not an option is the script. */
  readonly option?: RegExp
  /** Options whose next argument is a value. */
  readonly valued?: RegExp
  /** Options that name a file with the script. */
  readonly file?: RegExp
  /** The arguments behind the script are parts of it. */
  readonly joins?: boolean
}

const INTERPRETERS: readonly Interpreter[] = [
  {
    name: /^(?:(?:ba|da|k|mk|pdk|z|fi|a|c|tc)?sh|busybox)$/,
    option: /^[-+][a-z]*c[a-z]*$|^--command(?:=|$)/i,
    valued: /^[-+][oO]$|^--(?:rc|init-)file$/,
  },
  { name: /^(?:python|pypy)[\d.]*w?$/, option: /^-[a-zA-Z]*c/, valued: /^-[WX]$/ },
  { name: /^(?:perl|ruby)[\d.]*$/, option: /^-[a-zA-Z0-9]*[eE]/, valued: /^-[IMr]$/ },
  {
    name: /^(?:node|nodejs|bun|deno|tsx)$/,
    option: /^-(?:e|p|pe)$|^--(?:eval|print)(?:=|$)|^eval$/,
    valued: /^-[rC]$|^--(?:require|import)$/,
  },
  { name: /^(?:php[\d.]*|lua[\d.]*|luajit|r|rscript|julia|osascript|tclsh|guile)$/i, option: /^-[reEBRcp]|^--(?:eval|run)(?:=|$)/ },
  { name: /^env$/, option: /^-[a-zA-Z]*S|^--split-string(?:=|$)/, valued: /^-[uC]$/ },
  { name: /^(?:[gmn]?awk|g?sed|jq|eval)$/, valued: /^-[vF]$/, file: /^-f$|^--(?:from-)?file(?:=|$)/ },
  { name: /^(?:cmd|powershell|pwsh|parallel|ssh|watch|wsl)$/i, valued: /^-[npiolFjd]$/, joins: true },
  { name: /^[gbpn]?make$|^(?:ninja|just)$/, joins: true },
]

/** These read every argument. */
const READS_ALL = /^[gbpn]?make$|^(?:ninja|just)$/

/** Text beside a placeholder that no shell reads as anything but text. */
const PLAIN_TEXT = /^[\w./:=,@+-]*$/

/**
 * Returns the program that reads the argument at that position as a script, or as a part of one; undefined for an argument that is only
 * text. Interpreters are found wherever they stand, such as behind `env`, `timeout`, `xargs` and `find -exec`.
 *
 * @param literal the text of the argument without its placeholders
 */
export function readerOf(words: readonly string[], at: number, literal: string): string | undefined {
  return words.slice(0, at).find((word, index) => {
    const name = programName(word)
    const interpreter = INTERPRETERS.find((one) => one.name.test(name))
    return interpreter !== undefined && isScript(interpreter, name, words.slice(index + 1, at + 1), literal)
  })
}

/** Returns the name of a program without its folder and the ending of Windows. */
export function programName(word: string): string {
  return basename(word.replaceAll('\\', '/')).replace(/\.(?:exe|com|bat|cmd)$/i, '')
}

/** True if the last of these arguments of an interpreter is its script. */
function isScript({ option, valued, file, joins = false }: Interpreter, name: string, words: readonly string[], literal: string): boolean {
  if (READS_ALL.test(name)) return true
  const [last = ''] = words.slice(-1)
  let isNext = option === undefined
  for (let index = 0; index < words.length - 1; index++) {
    const word = words[index] as string
    if (file?.test(word)) return false
    if (option?.test(word)) isNext = true
    else if (valued?.test(word)) {
      if (++index === words.length - 1) return false
    } else if (!isOption(word)) {
      // Perl and others take several scripts.
      if (!isNext || option === undefined) return joins && !PLAIN_TEXT.test(literal)
      isNext = false
    }
  }
  // Such as `-c{B04}` and `--eval={B04}`.
  return isNext || (option?.test(last) ?? false)
}

function isOption(word: string): boolean {
  return /^[-+]|^\/[a-z]$/i.test(word)
}
