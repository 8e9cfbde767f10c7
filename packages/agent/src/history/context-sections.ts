import { createMessage, type Item, type MessageItem } from "@codex/model";

/**
 * A section of the context of a turn. Its text starts with `opening`, which identifies the latest section of the same kind in
 * a history.
 */
export interface ContextSection {
  readonly role: "developer" | "user";
  readonly opening: string;
  readonly text: string;
  /** Sent instead of `text` where a history has an earlier section of its kind. */
  readonly update?: string;
  /** It revokes an earlier section of its kind, and is not sent without one. */
  readonly revokes?: boolean;
}

/** Initial messages of a history: base instructions, then the sections by role. Pure. */
export function firstMessages(instructions: string, sections: readonly ContextSection[]): MessageItem[] {
  const own = sections.filter(({ revokes }) => revokes !== true);
  return [createMessage("developer", instructions), ...groupByRole(own)];
}

/** Messages with the sections that differ from the latest ones in a history. Pure. */
export function changedMessages(history: readonly Item[], sections: readonly ContextSection[]): MessageItem[] {
  const changed = sections.flatMap((section): ContextSection[] => {
    const newest = findNewest(history, section);
    if (newest === undefined) return section.revokes === true ? [] : [section];
    const { text, update = text } = section;
    return newest === text || newest === update ? [] : [{ ...section, text: update }];
  });
  return groupByRole(changed);
}

/** The latest text of this kind in a history. */
function findNewest(history: readonly Item[], { opening, role }: ContextSection): string | undefined {
  for (let index = history.length - 1; index >= 0; index -= 1) {
    const found = partsOf(history[index]!, role).findLast((text) => text.startsWith(opening));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Text parts of a message with this role; otherwise empty. */
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
