export type { DecisionEvent, EndEvent, Failure, NetworkEvent, Protocol } from "./events.js";
export { type Identify, NetworkProxy, type NetworkProxyOptions } from "./network-proxy.js";
export type { Answer, Ask, Question } from "./questions.js";
export type { Lookup } from "./resolver.js";
export type { Route } from "./route.js";
