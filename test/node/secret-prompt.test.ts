import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { AbortedError, CredentialError } from '../../src/errors.ts'
import { promptSecret, secretSource, type Terminal } from '../../src/node/credentials/secret-source.ts'

/** A terminal that remembers what it shows and whether it echoes. */
function fakeTerminal() {
  const modes: boolean[] = []
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (raw: boolean) => modes.push(raw) })
  const output = Object.assign(new PassThrough(), { isTTY: true })
  let shown = ''
  output.on('data', (chunk) => {
    shown += chunk
  })
  const terminal = { input, output } as unknown as Terminal
  return { terminal, input, modes, shown: () => shown }
}

describe('a prompt', () => {
  it('shows its label and nothing that is typed', async () => {
    const { terminal, input, modes, shown } = fakeTerminal()
    const answer = promptSecret('Password of ada', terminal)
    input.write('s3cret')
    input.write('x\x7f\r')
    expect(await answer).toBe('s3cret')
    expect(shown()).toBe('Password of ada: \n')
    expect(modes).toEqual([true, false])
  })

  it('a prompt cannot move the cursor by its label', async () => {
    const { terminal, input, shown } = fakeTerminal()
    const answer = promptSecret('a\x1b[2J\u202eb', terminal)
    input.write('x\r')
    await answer
    expect(shown()).toBe('a[2Jb: \n')
  })

  it('refuses bytes that are not UTF-8', async () => {
    const { terminal, input, modes } = fakeTerminal()
    const answer = promptSecret('Password', terminal)
    input.write(Buffer.from('p\xe4\r', 'latin1'))
    await expect(answer).rejects.toThrow('the terminal did not send UTF-8')
    expect(modes).toEqual([true, false])
  })

  it('asks one question after the other', async () => {
    const { terminal, input, shown } = fakeTerminal()
    const answers = [promptSecret('one', terminal), promptSecret('two', terminal)]
    input.write('1\r')
    expect(await answers[0]).toBe('1')
    await expect.poll(shown).toBe('one: \ntwo: ')
    input.write('2\r')
    expect(await answers[1]).toBe('2')
  })

  it.each([
    ['Ctrl-C', '\x03'],
    ['Ctrl-D', '\x04'],
  ])('a prompt is left by %s, with the echo back on', async (_name, key) => {
    const { terminal, input, modes } = fakeTerminal()
    const answer = promptSecret('Password', terminal).catch((error) => error)
    input.write(key)
    expect(await answer).toBeInstanceOf(AbortedError)
    expect(modes).toEqual([true, false])
  })

  it.each(['input', 'output'] as const)('a prompt is refused when the %s is no terminal', async (end) => {
    const { terminal, shown } = fakeTerminal()
    terminal[end].isTTY = false
    const error = await promptSecret('Password', terminal).catch((reason) => reason)
    expect(error).toBeInstanceOf(CredentialError)
    expect(error).toMatchObject({ code: 'CREDENTIAL_SOURCE', message: '"Password" can only be prompted for at a terminal' })
    expect(shown()).toBe('')
  })

  it('a prompt as a source is refused without a terminal', async () => {
    await expect(secretSource({ prompt: 'Password' }).read()).rejects.toMatchObject({ code: 'CREDENTIAL_SOURCE' })
  })
})
