import { describe, expect, it } from 'vitest'
import { lastError, run } from './run.ts'

describe('wrong arguments', () => {
  it.each([
    [['authorize', 'x.json', '--token', 'hunter2']],
    [['fetch', 'x.json', '--password=hunter2']],
    [['--api-key', 'hunter2', 'lint']],
  ])('%j requests a secret elsewhere and does not repeat it', async (argv) => {
    const { code, stdout, stderr } = await run(argv)
    expect(code).toBe(2)
    expect(stderr).toMatch(/^error USAGE: unknown option --(token|password|api-key)\n/)
    expect(stderr).toContain('keyring')
    expect(stdout + stderr).not.toContain('hunter2')
  })

  it.each([['-phunter2'], ['-uada:hunter2']])('%s: a short option is named without what is glued to it', async (option) => {
    const { code, stderr } = await run(['fetch', 'x.json', option])
    expect([code, stderr]).toEqual([2, `error USAGE: unknown option ${option.slice(0, 2)}\n  see stac-auth fetch --help\n`])
  })

  it.each(['-draft.json', '--old.ndjson', '-x.json.gz'])('%s: says how to give a file whose name begins with a dash', async (name) => {
    const { code, stderr } = await run(['lint', name])
    expect([code, stderr]).toEqual([2, expect.stringContaining('write ./ before the name of a file that begins with a dash')])
  })

  it('takes --json for --format json', async () => {
    const [short, long] = await Promise.all([run(['lint', 'x', '--json']), run(['lint', 'x', '--format', 'json'])])
    expect(short).toEqual(long)
    expect(JSON.parse(short.stdout)).toMatchObject({ version: 1 })
    const both = await run(['lint', 'x', '--json', '--format', 'sarif=/dev/null'])
    expect(JSON.parse(both.stdout)).toMatchObject({ version: 1 })
  })

  it.each([
    [['authorize', 'a.json', '--asset', 'a', '--asset', 'b', '--as', 'curl'], '--as curl prints one request, and several are selected'],
    [['authorize', 'a.json', 'b.json', '--as', 'url'], '--as url prints one request, and several are selected'],
    [['authorize', 'a.json', '--asset', 'a', '--role', 'data'], '--role needs --as ndjson'],
    [['authorize', 'a.json', '--as', 'ndjson', '--link', 'next'], '--link selects one target'],
    [['authorize'], 'no document is given'],
    [['authorize', 'a.json', '--asset', 'a', '--as', 'curl', '--json'], '--json and --as exclude each other'],
    [['lint', 'a.json', '--json', '--format', 'concise'], 'only one format can be written to stdout'],
  ])('%j is refused', async (argv, message) => {
    const { code, stderr } = await run(argv)
    expect(code).toBe(2)
    expect(stderr).toContain(message)
  })

  it.each([
    ['authorize-all', 'authorize'],
    ['worker', 'queue work'],
    ['queue status', 'queue show'],
  ])('%s is still accepted, and not shown', async (former, present) => {
    const [old, now] = await Promise.all([run([...former.split(' '), '--help']), run([...present.split(' '), '--help'])])
    expect([old.code, now.code]).toEqual([0, 0])
    const options = (help: string) => help.match(/^ {2}-.*$/gm)
    expect(options(old.stdout)).toEqual(options(now.stdout))
    expect((await run(['help'])).stdout).not.toContain(former)
  })

  it.each([
    [['fetch', 'x', '--credential', 'id'], 'the file is --credentials FILE; among its credentials, the scheme and sendTo decide'],
    [['credentials', '--credentials', 'x', 'list'], 'give it after the subcommand; see stac-auth credentials --help'],
    [['rules', '--credentials', 'x'], 'see stac-auth rules --help'],
  ])('%j explains where the credential file is named', async (argv, hint) => {
    const { code, stderr } = await run(argv)
    expect([code, stderr]).toEqual([2, expect.stringContaining(`\n  ${hint}`)])
  })

  it('wrong arguments that name an asset without its option are warned about it', async () => {
    expect((await run(['fetch', 'item.json', 'B04'])).stderr).toMatch(
      /\n {2}select one asset with --asset KEY; see stac-auth fetch --help\n$/,
    )
    expect((await run(['rules', 'a', 'b'])).stderr).toMatch(/\n {2}see stac-auth rules --help\n$/)
  })

  it.each([
    [['authorize', '--as', 'json']],
    [['authorize', 'x.json', '--as', 'xml', '--json']],
    [['nonsense', '--json']],
    [['explain', '--json', 'a', 'b']],
    [['authorize', 'x.json', '--as', 'json', '--asset', 'a', '--link', 'b']],
    [['fetch', 'x.json', '--json']],
  ])('%j is one JSON line on stderr and nothing on stdout', async (argv) => {
    const outcome = await run(argv)
    expect(outcome.code).toBe(2)
    expect(outcome.stdout).toBe('')
    expect(outcome.stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(Object.keys(lastError(outcome)).slice(0, 2)).toEqual(['code', 'message'])
    expect(lastError(outcome).code).toBe('USAGE')
  })
})

describe('the parser of arguments', () => {
  it.each([
    [['nosuch'], 'unknown command "nosuch"'],
    [['fetch', 'x', '--wait', '1.5'], 'invalid value "1.5" for --wait: it must be a whole number from 0 to 604800'],
    [['fetch', 'x', '--wait', "1' is invalid. a\nb"], 'invalid value "1\' is invalid. a\\u{a}b" for --wait: it must be a whole number'],
    [['download', 'x', '-d'], '--output-dir needs a value'],
    [['fetch'], 'the argument "document-or-url" is missing'],
    [['explain', 'a', 'b'], 'too many arguments: expected 1 argument but got 2'],
    [['completion', 'bsh'], 'invalid value "bsh" for shell: it must be one of bash, zsh, fish'],
    [['lint', 'x', '--rule', 'a=b'], 'invalid value "a=b" for --rule: it must be ID=LEVEL, where LEVEL is one of off, info, warn, error'],
  ])('%j: its messages have double quotes and no full stop, as ours', async (argv, message) => {
    const { code, stderr } = await run(argv)
    expect([code, stderr]).toEqual([2, expect.stringContaining(`error USAGE: ${message}`)])
    expect(stderr.split('\n')[0]).toMatch(/[^.]$/)
  })
})

describe('a slip of the pen', () => {
  it.each([
    [['lnt'], 'unknown command "lnt"', 'did you mean "lint"? See stac-auth help'],
    [['validate', 'x.json'], 'unknown command "validate"', 'did you mean "lint"? See stac-auth help'],
    [['credentials', 'trsut'], 'unknown command "trsut"', 'did you mean "trust"? See stac-auth credentials --help'],
    [['fetch', 'x', '--assset', 'a'], 'unknown option --assset', 'did you mean "--asset"? See stac-auth fetch --help'],
    [['download', 'x', '--output=a'], 'unknown option --output', 'did you mean "--output-dir"? See stac-auth download --help'],
    [['lint', '--max_warnings=3'], 'unknown option --max_warnings', 'did you mean "--max-warnings"? See stac-auth lint --help'],
    [
      ['authorize', 'x', '--as', 'pyton'],
      'invalid value "pyton" for --as: it must be one of http, headers, ',
      'did you mean "python"? See stac-auth authorize --help',
    ],
    [
      ['lint', 'x.json', '--rule', 'dangling-refs=off'],
      'unknown rule "dangling-refs"',
      'did you mean "dangling-ref"? stac-auth rules lists the rules',
    ],
    [['rules', 'dangling-refs'], 'unknown rule "dangling-refs"', 'did you mean "dangling-ref"? stac-auth rules lists the rules'],
  ])('%j is answered with what was meant', async (argv, message, hint) => {
    const { code, stdout, stderr } = await run(argv)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(`error USAGE: ${message}`)
    expect(stderr).toContain(`\n  ${hint}\n`)
  })

  it('a slip of the pen is not guessed for words that are like nothing', async () => {
    expect((await run(['nonsense'])).stderr).toMatch(/\n {2}see stac-auth help\n$/)
  })
})

describe('wrong values', () => {
  it.each([
    [['fetch', 'x', '--asset', 'a', '--asset', 'b'], '--asset is given twice'],
    [['authorize', 'x', '--asset', 'a', '--as', 'url', '--as=json'], '--as is given twice'],
    [['credentials', 'check', '--credentials', 'a', '--credentials', 'b'], '--credentials is given twice'],
    [['fetch', 'FTP://data.example/x'], 'unsupported URL scheme "ftp": give an https:, http:, s3: or gs: URL'],
    [['lint', 'x', '--format', 'html'], 'it must be one of pretty, concise, json'],
  ])('%j says %s', async (argv, message) => {
    expect(await run(argv)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) })
    expect((await run(argv)).stderr).toMatch(new RegExp(`see stac-auth ${argv[0]}.* --help`))
  })

  it('wrong values may be repeated where the option collects them', async () => {
    const { stderr } = await run(['lint', '--rule', 'a-a=off', '--rule', 'b-b=off', '--format', 'pretty', '--format', 'json=x', 'none'])
    expect(stderr).toContain('unknown rule "a-a"')
  })
})

describe('help and version', () => {
  it('help and version go to stdout and end in 0', async () => {
    expect(await run(['--version'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/), stderr: '' })
    const help = await run(['--help'])
    expect(help).toMatchObject({ code: 0, stderr: '' })
    for (const command of ['lint', 'explain', 'authorize', 'fetch', 'list', 'login', 'logout', 'status', 'credentials', 'rules'])
      expect(help.stdout).toContain(command)
    expect(await run(['help', 'fetch'])).toMatchObject({ code: 0, stdout: expect.stringContaining('--output <file>') })
    for (const names of [
      ['credentials', 'add'],
      ['queue', 'show'],
      ['translate', 'catalog'],
    ])
      expect(await run(['help', ...names])).toEqual(await run([...names, '--help']))
    expect(await run(['help', 'translate', 'item.json'])).toEqual(await run(['translate', '--help']))
    expect(await run(['help', 'lint', '--json'])).toEqual(await run(['lint', '--help']))
  })

  it.each([
    [['help', 'explian'], `did you mean "explain"? See stac-auth help`],
    [['credentials', 'help', 'lst'], `did you mean "list"? See stac-auth credentials --help`],
    [['help', 'credentials', 'lst'], `did you mean "list"? See stac-auth credentials --help`],
  ])('%s says that there is no such command', async (argv, hint) => {
    expect(await run(argv)).toMatchObject({ code: 2, stderr: `error USAGE: unknown command "${argv.at(-1)}"\n  ${hint}\n` })
  })

  it('help of translate catalog shows the options of translate that it takes, and no other', async () => {
    const { stdout } = await run(['translate', 'catalog', '--help'])
    expect(stdout).toContain('--glossary <id>')
    expect(stdout).not.toMatch(/--output-dir|--text|--version|--verbose.*--verbose/s)
  })

  it('help and version say how to continue when no command is given', async () => {
    const missing = (hint: string) => ({ code: 2, stdout: '', stderr: `error USAGE: no command is given\n  ${hint}\n` })
    expect(await run([])).toMatchObject(
      missing('to begin: stac-auth setup DOC, with the path or URL of a STAC document; all commands: stac-auth help'),
    )
    expect(await run(['credentials'])).toMatchObject(
      missing('the commands are check, list, add, trust, remove; see stac-auth credentials --help'),
    )
  })
})
