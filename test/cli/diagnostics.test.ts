import { describe, expect, it } from 'vitest'
import { createDiagnostics } from '../../src/cli/io.ts'
import { NetworkError, SelectionError } from '../../src/errors.ts'

function printing(json: boolean) {
  const written: string[] = []
  const write = (text: string, done: () => void) => {
    written.push(text)
    done()
  }
  const stderr = { write }
  return { diagnostics: createDiagnostics({ stderr, env: {} } as never, json), written }
}

const reason = new SelectionError('SCHEME_NOT_FOUND', 'no "a\nb"', { pointer: '/assets/d/auth:refs/0' })
const error = new SelectionError('NO_CREDENTIAL', 'nothing fits', {
  pointer: '/assets/d/auth:refs/1',
  hint: 'add this:\n  { "id": … }',
  url: 'https://a.example/f?sig=1',
  reasons: [reason],
})

describe('diagnostics for people', () => {
  it('diagnostics for people are a line, the hint and the reasons, whatever the texts hold', async () => {
    const { diagnostics, written } = printing(false)
    await diagnostics.error(error)
    expect(written.join('')).toBe(
      [
        'error NO_CREDENTIAL /assets/d/auth:refs/1: nothing fits',
        '  add this:',
        '    { "id": … }',
        '  - SCHEME_NOT_FOUND /assets/d/auth:refs/0: no "a\\u{a}b"',
        '',
      ].join('\n'),
    )
  })

  it('advise about an error of the network that has no hint of its own', async () => {
    const { diagnostics, written } = printing(false)
    await diagnostics.error(new NetworkError('NETWORK_DNS', 'https://a.example: the host name was not found'))
    await diagnostics.error(new NetworkError('TLS_UNTRUSTED', 'https://a.example: no', { hint: 'its own' }))
    await diagnostics.error(new NetworkError('HTTP_404', 'https://a.example/x: the server answered 404'))
    expect(written.map((text) => text.split('\n  ')[1])).toEqual([
      'check the host name and the DNS settings\n',
      'its own\n',
      'check the URL: the server has nothing there\n',
    ])
  })
})

describe('diagnostics for programs', () => {
  it('diagnostics for programs are one JSON line each, members in their order, without notes', async () => {
    const { diagnostics, written } = printing(true)
    diagnostics.warn({ code: 'SCOPE_NOT_GRANTED', message: 'm' })
    await diagnostics.note('done')
    await diagnostics.error(error)
    expect(written).toHaveLength(2)
    expect(JSON.parse(written[0] ?? '')).toEqual({ severity: 'warn', code: 'SCOPE_NOT_GRANTED', message: 'm' })
    expect(Object.keys(JSON.parse(written[1] ?? ''))).toEqual(['code', 'message', 'hint', 'pointer', 'url', 'reasons', 'retryable'])
    expect(JSON.parse(written[1] ?? '').url).toBe('https://a.example/f')
  })

  it('have all fields of an error also with advice that its code brings, and of an error that only warns', async () => {
    const { diagnostics, written } = printing(true)
    const gone = new NetworkError('HTTP_404', 'it is gone', { url: 'https://a.example/x', status: 404, hop: 1 })
    await diagnostics.error(gone)
    diagnostics.warn(new NetworkError('CRAWL_LIMIT', 'no more', { retryable: true }))
    expect(written.map((line) => JSON.parse(line))).toEqual([
      { ...gone.toJSON(), hint: 'check the URL: the server has nothing there' },
      { severity: 'warn', code: 'CRAWL_LIMIT', message: 'no more', retryable: true },
    ])
    expect(JSON.parse(written[0] ?? '')).toMatchObject({ hop: 1, status: 404, retryable: false })
  })
})
