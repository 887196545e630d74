import type { ReactNode } from "react";
import { settings } from "@/lib/config/settings";
import { mcpClients } from "@/lib/docs/mcp-clients";
import { pages } from "@/lib/http/register/pages";
import { CopyLine } from "./copy-line";

/** How an app is connected, step by step. The last step, approving it, is the same for all. */
export type WayToConnect = { name: string; title?: string; steps: ReactNode[]; icon?: "program" };

/** The usual agents and apps, by their names in an address, each with how it is connected. */
export function waysToConnect(): Record<string, WayToConnect> {
  const { address, accountAddress, claudeCode, codex, cursor, vsCode } = mcpClients(settings().appUrl);
  const inSettings = (name: string): WayToConnect => ({
    name,
    steps: [
      <>In {name}, open Settings, then Connectors, and add a custom connector.</>,
      <>
        Paste this address:
        <CopyLine text={accountAddress} label={`the address for ${name}`} />
      </>,
    ],
  });
  const inTerminal = (name: string, text: string): WayToConnect => ({
    name,
    steps: [
      <>
        Run this in a terminal:
        <CopyLine text={text} label={`the line for ${name}`} />
      </>,
    ],
  });
  const byLink = (name: string, link: string): WayToConnect => ({
    name,
    steps: [
      <>
        Press this on the computer that has {name}:
        <p className="actions">
          <a className="button" href={link}>
            Add to {name}
          </a>
        </p>
      </>,
      <>In {name}, press Connect or Log in.</>,
    ],
  });
  return {
    claude: inSettings("Claude"),
    chatgpt: inSettings("ChatGPT"),
    "claude-code": inTerminal("Claude Code", claudeCode.join("; ")),
    codex: inTerminal("Codex", codex),
    cursor: byLink("Cursor", cursor.installLink),
    "vs-code": byLink("VS Code", vsCode.installLink),
    other: {
      name: "Other agents",
      title: "another agent",
      icon: "program",
      steps: [
        <>
          Give it this address as a remote MCP server:
          <CopyLine text={address} label="the address for other agents" />
          <a href={`${pages.mcp.path}#connecting`}>How each agent takes it</a>
        </>,
      ],
    },
  };
}
