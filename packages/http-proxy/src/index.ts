export { findProxy, type HttpProxy, ProxyError } from "./find-proxy.js";
export { createProxySend, openTunnel } from "./send.js";
