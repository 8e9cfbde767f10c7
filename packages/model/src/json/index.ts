export { asCount, asObject, asText, type JsonObject, parseJson } from "./members.js";
