export { type CapabilityFinder, type CapabilityFinderOptions, createCapabilityFinder } from "./capability-finder.js";
