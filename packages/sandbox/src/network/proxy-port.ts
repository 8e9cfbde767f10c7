/** Where the proxy of a session's network listens, at every loopback address. */
export const PROXY_PORT = 3128;
