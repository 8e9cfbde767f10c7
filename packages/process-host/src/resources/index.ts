export { checkLimits, findLimitSupport, type LimitSupport } from "./limiter.js";
