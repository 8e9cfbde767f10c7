export { type Address, type AddressBlock, parseAddress, renderAddress } from "./address.js";
export { HOST_LOOPBACK_NAME, type Host, isLocalhostName, parseHost } from "./host.js";
export { isLocalAddress, isLoopbackAddress } from "./local-address.js";
export { type Pattern, PatternError } from "./pattern.js";
export {
  allowsMethod,
  type CompiledNetworkPolicy,
  compileNetworkPolicy,
  type DenyReason,
  evaluateAddresses,
  evaluateTarget,
  type NetworkDecision,
  type NetworkPolicy,
  type NetworkRule,
  type Target,
} from "./policy.js";
export {
  type CompiledRoute,
  compileRoute,
  isPathOfRoute,
  nameOfRoute,
  type RouteTarget,
  withoutFinalSlashes,
} from "./route.js";
