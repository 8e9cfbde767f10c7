import { type Item, textOf } from "@codex/agent";

/** Whether a message of the user's role is what a person wrote: others tell the model about its surroundings. */
export const isOwnWords = (text: string): boolean =>
  !/^(<(turn_aborted|environment_context|environments|skill|user_instructions)\b|# AGENTS\.md instructions)/.test(text);

/** What was said in a history by the person and the model, oldest first. */
export function listOwnWords(items: readonly Item[]): { role: "user" | "assistant"; text: string }[] {
  return items.flatMap((item) => {
    const { role } = item;
    if (item.type !== "message" || (role !== "user" && role !== "assistant")) return [];
    const text = textOf(item);
    return text === "" || (role === "user" && !isOwnWords(text)) ? [] : [{ role, text }];
  });
}
