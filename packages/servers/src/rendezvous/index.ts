export { type RendezvousCommandOptions, runRendezvous } from "./run-rendezvous.js";
