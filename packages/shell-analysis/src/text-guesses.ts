import { EFFORT, MAX_TEXT_GUESSES } from "./limits.js";
import { listPieces } from "./pieces.js";
import { withoutUnknown } from "./unknown.js";

/** Commands that are guessed in texts of other languages, each text once. */
export class TextGuesses {
  /** By their text. */
  readonly commands = new Map<string, string[]>();
  /** There would be more than `MAX_TEXT_GUESSES`. */
  isOver = false;
  private readonly texts = new Set<string>();

  /** Returns the effort of it. */
  add(text: string): number {
    if (this.isOver || this.texts.has(text)) return 0;
    this.texts.add(text);
    for (const words of listPieces(withoutUnknown(text))) {
      if (this.commands.size < MAX_TEXT_GUESSES) this.commands.set(JSON.stringify(words), words);
      else this.isOver = true;
    }
    return text.length * EFFORT.textCharacter;
  }
}
