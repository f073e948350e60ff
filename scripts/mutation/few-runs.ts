/** Properties are tried with a few cases, the same each time: they run once for each mutant. */
import fc from 'fast-check'

fc.configureGlobal({ numRuns: 100, seed: 1, endOnFailure: true })
