export { type BridgeEnd, type BridgeStreams, runBridge } from "./bridge.js";
export { connectToServer, type Joined, joinServer } from "./connect.js";
export { BackgroundError, type BackgroundErrorCode } from "./errors.js";
export type { Greeting, Want } from "./greeting.js";
export { closeInherited } from "./inherited.js";
export { STOP_MS } from "./limits.js";
export { type Listener, type ListenerOptions, listenInBackground } from "./listener.js";
export { openSocketPlace, type PlaceOptions, type SocketPlace } from "./socket-place.js";
export { READY, READY_FD, type ServerProgram, startServer } from "./start-server.js";
