import { createMessage, type Item, type MessageItem } from "../model/items.js";

/**
 * A piece of what a model is told about its surroundings. Its text begins with `opening`, by which the newest of its kind
 * is found in a history, whoever wrote that.
 */
export interface ContextSection {
  readonly role: "developer" | "user";
  readonly opening: string;
  readonly text: string;
}

/** The messages that a history begins with: base instructions, then the sections of each role. Pure. */
export function firstMessages(instructions: string, sections: readonly ContextSection[]): MessageItem[] {
  return [createMessage("developer", instructions), ...groupByRole(sections)];
}

/**
 * Messages that tell what has changed since a history was written; empty when nothing has. A section that is gone is told
 * as gone by those who make sections; nothing is edited. Pure.
 */
export function changedMessages(history: readonly Item[], sections: readonly ContextSection[]): MessageItem[] {
  return groupByRole(sections.filter((section) => findNewest(history, section) !== section.text));
}

/** The newest text of this kind in a history. */
function findNewest(history: readonly Item[], { opening, role }: ContextSection): string | undefined {
  for (let index = history.length - 1; index >= 0; index -= 1) {
    const found = partsOf(history[index]!, role).findLast((text) => text.startsWith(opening));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The texts of a message of this role. */
export function partsOf(item: Item, role: string): string[] {
  if (item.type !== "message" || item.role !== role || !Array.isArray(item.content)) return [];
  const parts: readonly unknown[] = item.content;
  return parts.flatMap((part) =>
    typeof part === "object" && part !== null && "text" in part && typeof part.text === "string" ? [part.text] : [],
  );
}

function groupByRole(sections: readonly ContextSection[]): MessageItem[] {
  const of = (role: ContextSection["role"]) => sections.filter((section) => section.role === role);
  return (["developer", "user"] as const).flatMap((role) => {
    const texts = of(role).map(({ text }) => text);
    return texts.length === 0 ? [] : [createMessage(role, ...texts)];
  });
}
