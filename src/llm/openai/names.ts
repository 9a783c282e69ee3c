export const OPENAI = "openai";
