export { createEnvironmentFetch } from "./transports/http-fetch.js";
export { type StdioServer, StdioTransport, type StdioTransportOptions } from "./transports/stdio.js";
