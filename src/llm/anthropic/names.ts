export const ANTHROPIC = "anthropic";
