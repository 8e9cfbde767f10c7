export { type AgentObserver, createAgentObserver } from "./agent-observer.js";
