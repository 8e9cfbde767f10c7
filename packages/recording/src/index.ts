export { type CastEncoder, type CastHeader, createCastEncoder, describeGap } from "./asciicast.js";
export { type CastSink, createCastFile, createSink } from "./cast-file.js";
export { type RunRecording, type RunRecordingOptions, startRunRecording } from "./run-recording.js";
export { createSessionRecording, type SessionRecording } from "./session-recording.js";
