import { refuseInspector } from "@codex/native";

// Of a part that is a program of its own: before everything else is loaded.
refuseInspector();
