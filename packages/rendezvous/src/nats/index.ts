export { type NatsClusterOptions, openNatsCluster } from "./nats-cluster.js";
