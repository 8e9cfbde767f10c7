/** A TOML file that cannot be used. The message names the file and, where it is known, the line. */
export class TomlFileError extends Error {
  override readonly name = "TomlFileError";
}
