import { h } from "./element.ts";

// Control characters, invisible characters, and those that change the direction of text.
const HIDDEN = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Zl}\p{Zp}]|(?![\n\t])\p{Cc}|(?! )\p{Zs}/gu;

/** Replaces hidden characters by marks such as `U+202E`. Line ends and tabs are kept. */
export function visible(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  let end = 0;
  for (const match of text.matchAll(HIDDEN)) {
    fragment.append(text.slice(end, match.index));
    fragment.append(h("mark", { class: "hidden-character", title: "hidden character" }, nameOf(match[0])));
    end = match.index + match[0].length;
  }
  fragment.append(text.slice(end));
  return fragment;
}

const nameOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;

/** The same as plain text, for accessible names. */
export const visibleText = (text: string): string => text.replace(HIDDEN, nameOf);
