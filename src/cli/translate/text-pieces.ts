/** A piece of a text: a paragraph to translate, or what stands between two. */
export interface TextPiece {
  readonly text: string
  readonly translate: boolean
}

/** Paragraphs, and the blanks and lines between them; joined they are the text. */
export function textPieces(text: string): readonly TextPiece[] {
  return text.split(/(\r?\n(?:[ \t]*\r?\n)+)/).flatMap((piece) => {
    const words = piece.trim()
    if (words === '') return [{ text: piece, translate: false }]
    const start = piece.length - piece.trimStart().length
    return [
      { text: piece.slice(0, start), translate: false },
      { text: words, translate: true },
      { text: piece.slice(start + words.length), translate: false },
    ]
  })
}
