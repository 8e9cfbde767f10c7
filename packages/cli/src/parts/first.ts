import { refuseInspector } from "@codex/native";

// Imported first by parts that are programs of their own.
refuseInspector();
