const MiB = 2 ** 20

/** Sizes beyond which a document is not looked at: bytes of an Item and of anything else, nesting, schemes, links. */
export const DOCUMENT_LIMITS = { item: 5 * MiB, other: 50 * MiB, depth: 64, schemes: 1000, links: 100_000 } as const
