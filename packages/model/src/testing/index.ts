export { customCall, functionCall, message, reasoning, refusal } from "./items.js";
export {
  cutAfter,
  fail,
  failed,
  incomplete,
  type Reply,
  type ResponseOptions,
  renderEvent,
  respond,
  responseEvents,
  type StreamEvent,
  type StreamForm,
  say,
  stream,
  USAGE,
} from "./replies.js";
export {
  type Conversation,
  converse,
  lastOutput,
  type ReceivedRequest,
  type Script,
  type ScriptedCall,
  type ScriptedEndpoint,
  startScriptedEndpoint,
} from "./scripted-endpoint.js";
