export const GEMINI = "gemini";
