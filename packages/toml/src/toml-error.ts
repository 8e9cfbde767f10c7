/** A TOML file that cannot be used. The message names the file and, where it is known, the line. */
export class TomlFileError extends Error {
  override readonly name = "TomlFileError";
  /** Counts from 1; undefined where the file could not be read. */
  readonly line: number | undefined;
  constructor(
    readonly file: string,
    /** The message without file, line and column. */
    readonly reason: string,
    { line, column, ...options }: ErrorOptions & { line?: number; column?: number } = {},
  ) {
    super(`${[file, line, column].filter((part) => part !== undefined).join(":")}: ${reason}`, options);
    this.line = line;
  }
}
