export { quoteWords, visible } from "@codex/policy/display";
export { splitWords } from "./split-words.js";
