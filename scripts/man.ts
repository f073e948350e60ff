/** Writes the manual pages into dist/man from the help texts: one for the program, and one for each command with its subcommands. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { Command, Option } from 'commander'
import { EXIT_CODES } from '../dist/cli/exit-code.js'
import { ENVIRONMENT, version } from '../dist/cli/io.js'
import { commands, examplesOf, groups, help, isRunnable, nameOf, optionsOf, program, subcommands } from './program-help.ts'

/** The day of the newest release in the CHANGELOG; before the first one, the day on which its version was prepared. */
const [, DATE = '2026-11-23'] = /^## \[[\d.]+\] - ([\d-]+)$/m.exec(readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8')) ?? []

const folder = new URL('../dist/man/', import.meta.url)

const pages = new Map([
  ['stac-auth.1', programPage()],
  ...commands.map((command) => [`stac-auth-${command.name()}.1`, commandPage(command)] as const),
])
mkdirSync(folder, { recursive: true })
for (const [name, roff] of pages) writeFileSync(new URL(name, folder), roff)

function programPage(): string {
  return page('stac-auth', program.description(), [
    section('Synopsis', `.B stac\\-auth\n.I command\n.RI [ options ]\n`),
    section('Description', paragraphs(program.description())),
    ...groups(commands, (command) => command.helpGroup()).map(([heading, members]) =>
      section(
        heading,
        members.map((command) => `.TP\n.BR stac\\-auth\\-${text(command.name())} (1)\n${line(command.description())}\n`).join(''),
      ),
    ),
    section('Options', optionList(program)),
    section('Environment', ENVIRONMENT.map(([name, what]) => `.TP\n.B ${text(name)}\n${line(what)}\n`).join('')),
    section('Exit status', EXIT_CODES.map(([code, what]) => `.TP\n.B ${code}\n${line(what)}\n`).join('')),
    examples(program),
  ])
}

function commandPage(command: Command): string {
  const below = subcommands(command)
  return page(`stac-auth-${command.name()}`, command.description(), [
    section('Synopsis', [command, ...below].filter(isRunnable).map(synopsis).join('.br\n')),
    section('Description', paragraphs(command.description())),
    ...optionSections(command),
    ...(below.length > 0 ? [section('Commands', below.map(subcommand).join(''))] : []),
    examples(command),
    section('See also', '.BR stac\\-auth (1)\n'),
  ])
}

function synopsis(command: Command): string {
  const rest = help.commandUsage(command).slice(nameOf(command).length).trim()
  return `.B ${text(nameOf(command))}\n${rest === '' ? '' : `${line(rest)}\n`}`
}

function subcommand(command: Command): string {
  return `.SS ${text(nameOf(command))}\n${line(command.description())}\n${optionList(command)}${exampleLines(command)}`
}

function optionSections(command: Command): string[] {
  return groups(optionsOf(command), (option) => option.helpGroupHeading ?? 'Options:').map(([heading, options]) =>
    section(heading === 'Options:' ? heading : `${heading.replace(/:$/, '')} options`, options.map(optionText).join('')),
  )
}

function optionList(command: Command): string {
  return optionsOf(command).map(optionText).join('')
}

function optionText(option: Option): string {
  return `.TP\n.B ${text(help.optionTerm(option))}\n${line(help.optionDescription(option))}\n`
}

function examples(command: Command): string {
  const lines = exampleLines(command)
  return lines === '' ? '' : section('Examples', lines.replace(/^\.PP\n/, ''))
}

function exampleLines(command: Command): string {
  const lines = examplesOf(command)
  return lines.length === 0 ? '' : `.PP\n.nf\n${lines.map((one) => `${guarded(text(one))}\n`).join('')}.fi\n`
}

function page(name: string, about: string, sections: readonly string[]): string {
  return [
    `.TH ${name.toUpperCase().replaceAll('-', '\\-')} 1 ${DATE} "stac\\-auth ${version()}" "stac\\-auth"\n`,
    section('Name', `${text(name)} \\-\n${line(about)}\n`),
    ...sections,
  ].join('')
}

function section(heading: string, body: string): string {
  return `.SH ${heading.replace(/:$/, '').toUpperCase()}\n${body}`
}

function paragraphs(about: string): string {
  return `${line(`${about.charAt(0).toUpperCase()}${about.slice(1)}.`)}\n`
}

/** A paragraph, in lines of at most 80 bytes. */
function line(plain: string): string {
  const lines = ['']
  for (const word of text(plain).split(' ')) {
    const last = lines.at(-1) ?? ''
    if (last !== '' && last.length + word.length >= 78) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines.map(guarded).join('\n')
}

/** A line that is no request of roff, whatever it begins with. */
function guarded(roff: string): string {
  return roff.replace(/^(?=[.'])/, '\\&')
}

/** Text of roff: a backslash, a hyphen, and quotes that would be typographic ones. */
function text(plain: string): string {
  return plain
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
}
