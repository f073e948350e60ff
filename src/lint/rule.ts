/** The interface of rules. A rule covers one mistake in all its cases; each case has its metadata, and hooks that check a document. */
import type { FlowNode, LintDocument, ParameterNode, SchemeNode, TargetNode } from './model.ts'
import type { Level, Preset } from './problem.ts'
import type { Violation } from './schema/violation.ts'

/** The name of a rule and its section. */
export interface RuleMeta {
  /** Kebab-case name that users write in their configuration; it includes all cases. */
  readonly id: string
  /** Section of the catalogue. The command that sends requests reports rules of the sections crawl and online, not the linter. */
  readonly section: 'placement' | 'references' | 'schemes' | 'flows' | 'run' | 'crawl' | 'online'
}

/** The code, levels and messages of one case of a rule. */
export interface CaseMeta {
  /** Kebab-case name of the case, as users may write it in their configuration too. The only case of a rule has the name of the rule. */
  readonly code: string
  /** Its level in each preset. */
  readonly severity: Readonly<Record<Preset, Level>>
  /** Texts by name; `{x}` is replaced, and data named `near` adds "did you mean". */
  readonly messages: Readonly<Record<string, string>>
  /** Present when the case has a fix: `safe` keeps the meaning, a `suggestion` needs a review. */
  readonly fix?: 'safe' | 'suggestion'
}

/** The values for the placeholders of a message, and data for the fix. */
export interface ReportData {
  readonly [name: string]: string | number | boolean | undefined
  /** The probably intended value; present but undefined means that there is no fix. */
  readonly near?: string
  /** The kind of fix of this finding, if it differs from that of the case; false if there is none. */
  readonly fix?: 'safe' | 'suggestion' | false
  /** True for a finding that depends on documents that were not read: its level is at most info. */
  readonly uncertain?: boolean
}

/** Reports a finding at a pointer, with one of the case's messages. */
export type Report = (pointer: string, message: string, data?: ReportData) => void

/** A rule with its cases. Its file also exports `docs`, which is not bundled into programs that only lint. */
export interface Rule {
  /** Its name and section. */
  readonly meta: RuleMeta
  /** Its cases, each with a code of its own. */
  readonly cases: readonly RuleCase[]
}

/** The texts for the page of a rule, by the code of each case. */
export type RuleDocs = Readonly<Record<string, CaseDocs>>

export interface CaseDocs {
  /** Anchor of the section in the text of the extension. */
  readonly part:
    | 'fields'
    | 'scheme-types'
    | 'authentication-scheme-object'
    | 'oauth2-flow-object'
    | 'signed-url-object'
    | 'parameter-object'
  /** The effect of the mistake on clients, in a few sentences. */
  readonly why: string
  /** Steps to fix it. */
  readonly repair: readonly string[]
}

/**
 * One case of a rule. It implements the hooks it needs, which are not public; each is called once for every part of a document of its
 * kind.
 */
export interface RuleCase {
  /** Its code, levels and messages. */
  readonly meta: CaseMeta
  /** Returns true to claim a violation of the JSON Schema, which no other rule sees then; may report it. @internal */
  claim?(violation: Violation, document: LintDocument, report: Report): boolean
  /** A Catalog, Collection or Item. @internal */
  document?(document: LintDocument, report: Report): void
  /** An asset, alternate asset, item asset definition or link. @internal */
  target?(target: TargetNode, report: Report): void
  /** A target with an href and at least one ref. @internal */
  protectedTarget?(target: TargetNode & { readonly href: string }, report: Report): void
  /** A value of `auth:schemes`. @internal */
  scheme?(scheme: SchemeNode, report: Report): void
  /** A flow of a scheme of type `oauth2` or `signedUrl`. @internal */
  flow?(flow: FlowNode, report: Report): void
  /** A parameter of a signing API. @internal */
  parameter?(parameter: ParameterNode, report: Report): void
}
