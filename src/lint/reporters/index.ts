/** Exports of `stac-auth/lint/reporters`: the formats of reports, apart from the linter because they need all texts of the rules. */
export { type Format, type Report, reporterOf, reportOf } from './report.ts'
