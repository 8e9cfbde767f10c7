/**
 * Equal for texts that differ only in case or in how accents are composed (Unicode canonical caseless matching).
 * Letter by letter, because lower-casing a whole text treats the last sigma of a word differently.
 */
export function foldCase(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text.toLowerCase();
  const folded = Array.from(text.normalize("NFD"), foldLetter).join("");
  return folded.normalize("NFD");
}

function foldLetter(letter: string): string {
  // The dotless i has the same capital as the dotted one, but is a different letter.
  if (letter === "ı") return letter;
  return Array.from(letter.toLowerCase().toUpperCase(), (part) => part.toLowerCase()).join("");
}
