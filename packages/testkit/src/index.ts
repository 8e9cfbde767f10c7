export { type CuttingProxy, createCuttingProxy } from "./cutting-proxy.js";
export { type Cut, type CuttingRelay, createCuttingRelay, type Direction } from "./cutting-relay.js";
export { createEvictingServer } from "./evicting-server.js";
export { findSmallDiskProblem, openSmallDisk, type SmallDisk } from "./small-disk.js";
export { createTestTracing } from "./test-tracing.js";
