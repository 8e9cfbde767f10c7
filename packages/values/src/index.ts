export { cutEnd, cutStart } from "./cut.js";
export { type DecodeOptions, decodeText, isText } from "./decode.js";
export { defined } from "./defined.js";
export { messageOf, toError } from "./error-message.js";
export { evictOldest } from "./evict-oldest.js";
export { quote } from "./quote.js";
export { SecretFilter, type SecretFilterOptions } from "./secrets/secret-filter.js";
export { sizeOfJson } from "./size.js";
export { stringifyWellFormed, toWellFormed } from "./well-formed.js";
