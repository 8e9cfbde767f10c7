/** Largest TOML file that is read, bytes. */
export const MAX_TOML_FILE_BYTES = 1024 * 1024;
