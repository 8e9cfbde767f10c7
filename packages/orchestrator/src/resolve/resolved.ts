/** The result of a phase, or why there is none: the field and a sentence with the expected value. */
export type Resolved<T> = { kind: "ok"; value: T } | Rejected;

export interface Rejected {
  kind: "rejected";
  /** Path of the argument, such as `additional_permissions.file_system.read.0`; empty for the arguments as a whole. */
  field: string;
  problem: string;
}

export const rejected = (field: string, problem: string): Rejected => ({ kind: "rejected", field, problem });
