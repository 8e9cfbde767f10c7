export { splitWords } from "./split-words.js";
export { quoteWords, visible } from "./visible.js";
