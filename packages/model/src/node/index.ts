export { AdapterError, type AdapterOptions, loadAdapterModel } from "../adapters/load-adapter.js";
export { createNodeFetch } from "./node-fetch.js";
export { createTokenReader } from "./token-command.js";
