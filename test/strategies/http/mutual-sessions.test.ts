import { describe, expect, it } from 'vitest'
import { failureOf } from '../../harness/failure.ts'
import { script } from '../../harness/scripted.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { DATA, victim } from '../../harness/victim.ts'
import { type MutualServerSession, mutualServer } from '../../servers/mutual-server.ts'
import { ADA, asset, engine, F, ORIGIN } from './mutual-engine.ts'

describe('a session', () => {
  it('ends after as many requests as the server allows', async () => {
    const { get, said } = engine({ limits: { ncMax: 2 } })
    for (let round = 0; round < 3; round++) await get()
    expect(said()).toEqual(['', 'kc1', '1', '2', '', 'kc1', '1'])
  })

  it.each([
    [300, ['', 'kc1', '1', '', 'kc1', '1']],
    [301, ['', 'kc1', '1', '2']],
    [0, ['', 'kc1', '1', '', 'kc1', '1']],
  ])('a session of %i seconds is used so long', async (time, expected) => {
    let now = 1_800_000_000_000
    const { get, said } = engine({ limits: { time } }, {}, { now: () => now })
    await get()
    now += 300_000
    await get()
    expect(said()).toEqual(expected)
  })

  it('a session that the server has lost is followed by another', async () => {
    const sessions = new Map<string, MutualServerSession>()
    const { get, said } = engine({ sessions })
    await get()
    sessions.clear()
    expect((await get()).status).toBe(200)
    expect(said()).toEqual(['', 'kc1', '1', '2', 'kc1', '1'])
  })

  it('a session is requested once and no more', async () => {
    const sessions = new Map<string, MutualServerSession>()
    let isLosing = false
    const { get, said } = engine({
      sessions,
      answer: (answer, step) => {
        if (isLosing && step === 'exchange') sessions.clear()
        return answer
      },
    })
    await get()
    isLosing = true
    sessions.clear()
    expect(await failureOf(get())).toMatchObject({ code: 'AUTH_REJECTED', message: expect.stringContaining('(stale-session)') })
    expect(said().slice(3)).toEqual(['2', 'kc1', '1'])
  })

  it.each([
    ['/f.tif /h/', ['', '2']],
    ['/ https://evil.example/', ['2']],
    ['https://evil.example/', ['', '2']],
  ])('a session is used at once below its path %j only', async (path, expected) => {
    const { get, said, wire } = engine({ limits: { path } })
    await get()
    await get(`${DATA}g.tif`)
    expect(said().slice(3)).toEqual(expected)
    expect(wire.to('evil.example')).toEqual([])
  })

  it('a session of one realm does not open another', async () => {
    const [one, other] = [{ realm: 'one' }, { realm: 'other' }].map((realm) =>
      mutualServer({ users: { ada: 'pencil' }, origin: ORIGIN, ...realm }),
    )
    const wire = script((sent) => (sent.url.endsWith('g.tif') ? other : one)?.(sent))
    const { auth } = victim({ credentials: unchecked(ADA) }, wire)
    for (const href of [F, `${DATA}g.tif`, `${DATA}g.tif`]) expect((await auth.fetch(asset(href))).status).toBe(200)
    expect(wire.sent).toHaveLength(7)
  })
})
