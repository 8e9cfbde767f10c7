/** A program that is run directly and through this project, with the same result. */
export interface OracleScript {
  /** For `/bin/sh -c`, or for `/bin/bash -c` with `bash`. */
  script: string;
  shell: "sh" | "bash";
  /** Written to its stdin, which is then closed; undefined: no stdin. */
  input?: string;
  /** On a terminal of 24 rows and 80 columns. */
  tty: boolean;
  /** Text to type, each after the expected output. */
  steps?: readonly (readonly [seen: string, type: string])[];
  /** Compare the final screen instead of the bytes, as programs may draw in another order. */
  screen?: boolean;
  /** A required program; without it the script is skipped. */
  needs?: string;
}
