export type { KeyPath, Place } from "./find-key.js";
export { parseKeyPath, renderKeyPath } from "./key-path.js";
export { MAX_TOML_FILE_BYTES } from "./limits.js";
export { parseTypedValue, readTomlFile, type TomlFile, type TomlTable } from "./read-toml.js";
export { TomlFileError } from "./toml-error.js";
