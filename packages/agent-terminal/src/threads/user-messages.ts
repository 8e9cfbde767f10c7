import { type Item, textOf } from "@codex/agent";

/** Whether a user message was written by a person, as opposed to inserted context. */
export const isUserWritten = (text: string): boolean =>
  !/^(<(turn_aborted|environment_context|environments|skill|user_instructions)\b|# AGENTS\.md instructions)/.test(text);

/** Messages of the user and the model in a history, oldest first. */
export function listMessages(items: readonly Item[]): { role: "user" | "assistant"; text: string }[] {
  return items.flatMap((item) => {
    const { role } = item;
    if (item.type !== "message" || (role !== "user" && role !== "assistant")) return [];
    const text = textOf(item);
    return text === "" || (role === "user" && !isUserWritten(text)) ? [] : [{ role, text }];
  });
}
