/** The words whose credentials are computed: one line each. Every other word takes ready-made text. */
import { basic } from './basic.ts'
import { bearer } from './bearer.ts'
import type { HttpWord } from './word.ts'

export const words: readonly HttpWord[] = [basic, bearer]
