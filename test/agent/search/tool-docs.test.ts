import { expect, it } from "vitest";
import { toolSearchDocs } from "../../../src/agent/index.js";
import { tainted } from "../../../src/kernel/index.js";
import { anyTool } from "../../support/agents.js";

const tools = [
  anyTool("own", { description: "Mine", tags: ["a"], aliases: ["b"] }),
  anyTool("remote", { origin: "remote", description: "Theirs", tags: ["c"], aliases: ["d"] }),
  anyTool("tainted", { description: tainted("Hostile", "mcp"), tags: ["e"] }),
];

it("Documents hold the words of authors and of the host, and of third parties none", () => {
  expect(
    toolSearchDocs(tools, { annotations: { remote: { aliases: ["f"] }, own: { tags: ["g"] } } }),
  ).toEqual([
    { id: "own", description: "Mine", tags: ["a", "g"], aliases: ["b"] },
    { id: "remote", tags: [], aliases: ["f"] },
    { id: "tainted", tags: ["e"], aliases: [] },
  ]);
});

it("Documents hold third parties' descriptions where the host vouches for them, and never their tags and aliases", () => {
  expect(toolSearchDocs(tools, { trustJsonSchemaText: true }).slice(1)).toEqual([
    { id: "remote", description: "Theirs", tags: [], aliases: [] },
    { id: "tainted", tags: ["e"], aliases: [] },
  ]);
});
