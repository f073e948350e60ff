/** Starts the runner, which runs the tests of its job. */
import { it } from 'vitest'

it('starts the tests of a job', () => undefined)
