export { attachView, type View, type ViewOptions } from "./attach-view.js";
export type { ThreadFacts } from "./live/conversation.js";
export type { Rights } from "./wire/messages.js";
