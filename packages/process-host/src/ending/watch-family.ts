import type { Native } from "@codex/native";
import type { FamilyQuery, FamilyWatch } from "./family.js";
import { watchByProc } from "./family-proc.js";
import { watchByPs } from "./family-ps.js";

export function watchFamily(query: FamilyQuery, native: Native): FamilyWatch {
  return process.platform === "linux" ? watchByProc(query, native) : watchByPs(query);
}
