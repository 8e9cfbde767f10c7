export { type NatsClusterOptions, openNatsCluster } from "./nats-cluster.js";
export { type NatsAddress, readNatsUrl } from "./nats-url.js";
