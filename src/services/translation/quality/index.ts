/** `stac-auth/translation/quality`: what evaluations are made of, and the part of a text that a mistake is in; the methods are `client.quality`. */
export { type QualityInput, type QualityReport, sliceCodePoints } from './quality.ts'
