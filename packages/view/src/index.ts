export { attachView, type View, type ViewOptions } from "./attach-view.js";
export type { ThreadFacts } from "./live/conversation.js";
export { type Replay, readReplay } from "./replay/read-replay.js";
export { replayView } from "./replay/replay-view.js";
export type { ServedView, ServeOptions } from "./serve-view.js";
export type { Rights } from "./wire/messages.js";
